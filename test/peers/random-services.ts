/** Services of every kind that the API takes, at random. */
import fc from 'fast-check'
import type { Endpoint, Port, Service, Slice } from './world.ts'

export const clusters = ['east', 'west', 'c1.reg']

const port: fc.Arbitrary<Port> = fc.record({
  name: fc.constantFrom('http', 'pg', 'x-9'),
  port: fc.integer({ min: 1, max: 65_535 }),
  protocol: fc.constantFrom('TCP', 'UDP', 'SCTP'),
})
const byName = { selector: ({ name }: Port) => name, maxLength: 3 }
const unnamed = port.map(one => [{ ...one, name: '' }])
const ports: fc.Arbitrary<readonly Port[]> = fc.oneof(
  { weight: 5, arbitrary: fc.uniqueArray(port, byName) },
  { weight: 1, arbitrary: unnamed },
)

const ipv4 = fc.integer({ min: 1, max: 250 }).map(last => `10.1.0.${last}`)
const ipv6 = fc.integer({ min: 0, max: 0xffff }).map(last => `fd00:1::${last === 0 ? '' : last.toString(16)}`)

function endpoint(address: fc.Arbitrary<string>): fc.Arbitrary<Endpoint> {
  return fc
    .record({
      addresses: address.map(one => [one]),
      hostname: fc.option(fc.constantFrom('db-0', 'db-1', 'same'), { nil: undefined }),
      ready: fc.boolean(),
    })
    .map(({ hostname, ...rest }) => (hostname === undefined ? rest : { ...rest, hostname }))
}

function slice(family: Slice['family']): fc.Arbitrary<Slice> {
  const address = ({ addresses }: Endpoint): string => addresses[0] ?? ''
  return fc.record({
    cluster: fc.constantFrom(...clusters),
    family: fc.constant(family),
    ports,
    endpoints: fc.uniqueArray(endpoint(family === 'IPv4' ? ipv4 : ipv6), { selector: address, maxLength: 4 }),
  })
}

const slices = fc.array(fc.oneof(slice('IPv4'), slice('IPv6')), { maxLength: 3 })
const ips = fc.constantFrom(['10.42.0.1'], ['fd00:42::1'], ['10.42.0.2', 'fd00:42::2'], [])

/** One for each name, in the namespace that the name begins with. */
export function randomServices(names: readonly string[], seed: number): readonly Service[] {
  const service = fc.record({ type: fc.constantFrom('ClusterSetIP', 'Headless'), ips, ports, slices })
  return fc.sample(service, { seed, numRuns: names.length }).map((one, at) => {
    const [namespace = '', name = ''] = (names[at] ?? '').split('/')
    // Whether it is one of the two is said above.
    const type = one.type as Service['type']
    return { ...one, type, namespace, name, ips: type === 'Headless' ? [] : one.ips }
  })
}
