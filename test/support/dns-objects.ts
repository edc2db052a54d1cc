/** ServiceImports and EndpointSlices in a few words, and the zone that tables of answers are asked of. */
import {
  type ImportObject,
  type SliceObject,
  serviceNameLabel,
  sourceClusterLabel,
} from '../../dns/source/facts.ts'

type Port = { readonly name?: string; readonly protocol?: string; readonly port?: number }

/** `http/TCP/80`; `/TCP/80` has no name; `//` has nothing. */
function portOf(text: string): Port {
  const [name = '', protocol = '', port = ''] = text.split('/')
  return {
    ...(name === '' ? {} : { name }),
    ...(protocol === '' ? {} : { protocol }),
    ...(port === '' ? {} : { port: Number(port) }),
  }
}

function metadataOf(key: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = key.split('/')
  return { namespace, name }
}

export function aClusterSetIp(key: string, ips: readonly string[], ports: readonly string[]): ImportObject {
  return { metadata: metadataOf(key), spec: { type: 'ClusterSetIP', ips, ports: ports.map(portOf) } }
}

export function aHeadless(key: string, ips: readonly string[] = []): ImportObject {
  return { metadata: metadataOf(key), spec: { type: 'Headless', ips, ports: [] } }
}

const conditions = {
  ready: { ready: true },
  unknown: { ready: null },
  notReady: { ready: false },
  terminating: { ready: false, serving: true, terminating: true },
} as const

/** `db-0 10.1.0.1`, `- 10.1.0.1` without a hostname, `db-0 10.1.0.1 notReady`. */
function endpointOf(text: string): {
  readonly addresses: readonly string[]
  readonly hostname: string | null
  readonly conditions: { readonly ready: boolean | null }
} {
  const [hostname = '-', address = '', state = 'ready'] = text.split(' ')
  const found = Object.entries(conditions).find(([name]) => name === state)
  if (found === undefined) throw new Error(`no state ${state}`)
  return { hostname: hostname === '-' ? null : hostname, addresses: address.split(','), conditions: found[1] }
}

let slices = 0

/** `cluster` is undefined for a slice without that label. */
export function aSlice(
  key: string,
  cluster: string | undefined,
  ports: readonly string[] | null,
  endpoints: readonly string[],
): SliceObject {
  const { namespace, name } = metadataOf(key)
  const labels = {
    [serviceNameLabel]: name,
    ...(cluster === undefined ? {} : { [sourceClusterLabel]: cluster }),
  }
  slices += 1
  return {
    metadata: { namespace, name: `${name}-${String(slices).padStart(6, '0')}`, labels },
    addressType: endpoints[0]?.includes(':') === true ? 'IPv6' : 'IPv4',
    ports: ports === null ? null : ports.map(portOf),
    endpoints: endpoints.map(endpointOf),
  }
}

export type Objects = { readonly imports: readonly ImportObject[]; readonly slices: readonly SliceObject[] }

/** One of everything that the rules distinguish. */
export function exampleObjects(): Objects {
  const big = Array.from({ length: 1200 }, (_, i) => `big-${i} 10.9.${i >> 8}.${i & 255}`)
  return {
    imports: [
      aClusterSetIp('prod/web', ['10.42.0.10', 'fd00::10'], ['http/TCP/80', 'https/TCP/443']),
      aClusterSetIp('prod/api', ['10.42.0.11'], ['dns-tcp/TCP/53', 'dns/UDP/53']),
      aClusterSetIp('prod/one', ['10.42.0.12'], ['/TCP/8080']),
      aClusterSetIp('prod/bareip', ['10.42.0.13'], []),
      aClusterSetIp('prod/pend', [], ['http/TCP/80']),
      aClusterSetIp('prod/long', ['10.42.0.14'], [`${'a'.repeat(63)}/TCP/90`]),
      ...['db', 'anon', 'dual', 'v6', 'zero', 'none', 'np', 'nullp', 'two', 'dup', 'big'].map(name =>
        aHeadless(`prod/${name}`),
      ),
      aHeadless('prod/none2', ['None']),
    ],
    slices: [
      aSlice(
        'prod/db',
        'east',
        ['pg/TCP/5432'],
        ['db-0 10.1.0.1', 'db-1 10.1.0.2 unknown', 'db-2 10.1.0.3 notReady', 'db-3 10.1.0.4 terminating'],
      ),
      aSlice('prod/db', 'west', ['pg/TCP/5432'], ['db-0 10.2.0.1']),
      aSlice('prod/anon', 'east', ['http/TCP/80'], ['- 10.1.0.7']),
      aSlice('prod/anon', 'east', ['http/TCP/80'], ['- fd00:1::7', '- fd00:1::']),
      aSlice('prod/dual', 'east', ['http/TCP/80'], ['d-0 10.1.0.8']),
      aSlice('prod/dual', 'east', ['http/TCP/80'], ['d-0 fd00:1::8']),
      aSlice('prod/v6', 'east', ['http/TCP/80'], ['v-0 fd00:1::9']),
      aSlice('prod/zero', 'east', ['http/TCP/80'], ['z-0 10.1.0.30 notReady']),
      aSlice('prod/np', 'east', null, ['n-0 10.1.0.20']),
      aSlice('prod/nullp', 'east', ['//'], ['n-0 10.1.0.21']),
      aSlice('prod/two', 'c1.reg', ['p/TCP/1'], ['h-0 10.3.0.1']),
      aSlice('prod/dup', 'east', ['p/TCP/1'], ['x 10.4.0.1']),
      aSlice('prod/dup', 'east', ['p/TCP/1'], ['x 10.4.0.1', 'x 10.4.0.2']),
      aSlice('prod/big', 'east', ['p/TCP/1'], big),
      aSlice('prod/none2', 'east', ['p/TCP/1'], ['k-0 10.5.0.1']),
    ],
  }
}
