// From pods by name to pods, through stock kube-proxy and CoreDNS: both modes of kube-proxy, both ways to route imports.
import { dirname } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { derivedServiceName } from '../../src/api/derived-service.ts'
import type { Routing } from '../../src/derive/desired.ts'
import { eventually } from '../support/eventually.ts'
import { sectionText, tableRows } from '../support/markdown.ts'
import { type ClusterSet, startClusterSet } from './clusterset.ts'
import { inUrl } from './lab/addresses.ts'
import { skipsNodes } from './lab/capabilities.ts'
import type { LabCluster } from './lab/cluster.ts'
import { run } from './lab/command.ts'
import { useLab } from './lab/use-lab.ts'
import { field, inClient, openShop } from './shop-pods.ts'

const both = ['web-east', 'web-west']
/** For what pods reach when several processes and kernels have agreed. */
const patienceMs = 60_000
const manifold = { connections: 20, packets: 8 }

const derived = `service/${derivedServiceName({ namespace: 'shop', name: 'web' })}`
const nameOf = (service: string): string => `${service}.shop.svc.clusterset.local`
const curl = (service: string, family = ''): string =>
  `curl --silent --max-time 5 ${family} http://${nameOf(service)}`
const packet = (service: string, family: string): string =>
  `echo | nc -u ${family} -w 1 -W 1 ${nameOf(service)} 80`

/** The pods that answer when a client of the cluster asks many times, sorted; `ask` prints an answer. */
async function reached(
  cluster: LabCluster,
  ask: string,
  times = manifold.connections,
): Promise<readonly string[]> {
  const script = `for _ in $(seq ${times}); do (${ask}) || echo nobody; done | cut -d' ' -f1 | sort -u`
  return (await inClient(cluster, script)).split('\n').filter(Boolean)
}

/** Where the one came from who asked until `pod` answered, as that pod saw it. */
function seenBy(pod: string, cluster: LabCluster, ask: string): Promise<string> {
  return eventually(async () => {
    const answer = (await inClient(cluster, ask)).trim()
    expect(answer).toMatch(new RegExp(`^${pod} `))
    return answer.replace(/^\S+ \[?(.*?)\]?:\d+$/, '$1')
  }, patienceMs)
}

/** Goes on over one connection to the pod until a request fails; prints each answer. */
const holdOn = (pod: string): string => `
  ask() {
    printf 'GET / HTTP/1.1\\r\\nHost: web\\r\\n\\r\\n' >&3
    while IFS= read -r -t 5 line <&3 && [ "$line" != $'\\r' ]; do :; done
    read -r -t 5 answer <&3 && echo "$answer"
  }
  until exec 3<>/dev/tcp/${nameOf('web')}/80 && ask | grep '^${pod} '; do sleep 0.1; done
  while ask; do sleep 0.2; done
  echo lost`

/** Of the endpoints that this cluster has of the pod `web-east`, one for each family. */
function readiness(cluster: LabCluster): Promise<readonly string[]> {
  const labels = 'multicluster.kubernetes.io/service-name=web,multicluster.kubernetes.io/source-cluster=east'
  return field(cluster, `endpointslices --selector=${labels}`, '{.items[*].endpoints[*].conditions.ready}')
}

const listRules = {
  nftables: ['nft list table ip kube-proxy', 'nft list table ip6 kube-proxy'],
  iptables: ['iptables-save -t nat', 'ip6tables-save -t nat'],
}

/** The rules of the one cluster's kube-proxy that lead to the pod `web` of the other. */
async function rulesTo(
  other: LabCluster,
  { place, folder }: LabCluster,
  mode: keyof typeof listRules,
): Promise<readonly string[]> {
  const addresses = await field(other, `pod/web-${other.name}`, '{.status.podIPs[*].ip}')
  const rules = await Promise.all(
    listRules[mode].map(command => run(place.command(command.split(' ')), { lab: dirname(folder) })),
  )
  const targets = addresses.map(address => `${inUrl(address)}:8080`)
  return rules
    .flatMap(text => text.split('\n'))
    .filter(rule => /dnat to|--to-destination/.test(rule) && targets.some(target => rule.includes(target)))
}

/** What the page says about a way to route imports, by the first column of its table. */
function documented(routing: Routing): Readonly<Record<string, string>> {
  const rows = tableRows(sectionText('docs/operations.md', 'What each way keeps'))
  return Object.fromEntries(
    rows.map(([what = '', shared = '', keeping = '', local = '']) => [
      what,
      { shared, 'shared-keep-source': keeping, local }[routing],
    ]),
  )
}

describe.skipIf(skipsNodes()).each(['nftables', 'iptables'] as const)('packets in %s mode', proxyMode => {
  const lab = useLab({ name: `packets-${proxyMode}`, count: 2, nodes: true, proxyMode })
  let clusterSet: ClusterSet
  const [east, west] = [() => lab.cluster(0), () => lab.cluster(1)]
  const inTheEnd = (ask: string, pods: readonly string[], times?: number): Promise<void> =>
    eventually(async () => expect(await reached(west(), ask, times)).toEqual(pods), patienceMs)
  const taint = (taints: readonly object[] | null): Promise<string> =>
    clusterSet.onHub(
      'patch',
      'membercluster',
      'east',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: { taints } }),
    )

  const keepsWhatThePageSays = async (routing: Routing): Promise<void> => {
    const [addresses, elsewhere] = await Promise.all(
      [west(), east()].map(cluster => field(cluster, 'serviceimport/web', '{.spec.ips[*]}')),
    )
    const own = await field(west(), 'pod/client', '{.status.podIPs[*].ip}')
    const seen = [
      await seenBy('web-east', west(), curl('web', '-4')),
      await seenBy('web-east', west(), curl('web', '-6')),
    ]
    const sources = new Map([
      [String(own), 'the client'],
      [String(west().addresses.node), 'the node of the client'],
    ])
    const ports = '{.spec.ports[*].nodePort} {.spec.healthCheckNodePort}'
    const nodePorts = ['none', 'one for each import']
    const near = String(await reached(west(), curl('near')))
    expect({
      'the same address in every cluster': String(addresses) === String(elsewhere) ? 'yes' : 'no',
      'who asked, as a pod of another cluster sees it': sources.get(String(seen)) ?? String(seen),
      '`internalTrafficPolicy: Local` of the exported Service':
        { 'web-west': 'kept', [String(both)]: 'without effect' }[near] ?? near,
      'node ports': nodePorts[(await field(west(), derived, ports)).length] ?? 'more',
    }).toEqual(documented(routing))
  }
  /** And waits until Services are so. */
  const route = async (routing: Routing): Promise<void> => {
    await clusterSet.route(routing)
    const wanted = { shared: 'Cluster', 'shared-keep-source': 'Local', local: '' }[routing]
    const type = wanted === '' ? ['ClusterIP'] : ['LoadBalancer', wanted]
    for (const cluster of [east(), west()]) {
      await eventually(
        async () =>
          expect(await field(cluster, derived, '{.spec.type} {.spec.externalTrafficPolicy}')).toEqual(type),
        patienceMs,
      )
    }
  }

  beforeAll(async () => {
    clusterSet = await startClusterSet(lab.up(), 'shared-keep-source')
    // One after the other: the older export wins.
    await openShop(east(), { name: 'http', port: 80 })
    await openShop(west(), { name: 'other', port: 81 })
  }, 600_000)

  // First, so that those that follow show that nothing of it stays.
  it('keep what the page says with --clustersetip shared-keep-source', async () => {
    await route('shared-keep-source')
    await inTheEnd(curl('web', '-4'), both)
    await inTheEnd(curl('web', '-6'), both)
    await keepsWhatThePageSays('shared-keep-source')
  }, 300_000)

  describe.each(['shared', 'local'] as const)('with --clustersetip %s', routing => {
    beforeAll(() => route(routing), 300_000)

    it('reach pods of all clusters by name, over TCP and UDP and both families', async () => {
      await inTheEnd(curl('web'), both)
      for (const family of ['-4', '-6']) {
        await inTheEnd(curl('web', family), both)
        await inTheEnd(packet('web', family), both, manifold.packets)
      }
    }, 300_000)

    it('stay with one pod when the Service asks for it', async () => {
      for (const family of ['-4', '-6']) {
        await eventually(
          async () => expect(await reached(west(), curl('sticky', family))).toHaveLength(1),
          patienceMs,
        )
        const first = await reached(west(), curl('sticky', family))
        expect(both).toEqual(expect.arrayContaining([...first]))
        expect(await reached(west(), curl('sticky', family))).toEqual(first)
      }
    })

    it('reach a port only in clusters that expose it', async () => {
      await inTheEnd(curl('strict'), ['web-east'])
      await inTheEnd(`${curl('strict')}:81`, ['web-west'])
      await inTheEnd(curl('disputed'), ['web-east'])
      expect(await reached(west(), `${curl('disputed')}:81`, 1)).toEqual(['nobody'])
    })

    it('reach each pod of a headless service by its own name', async () => {
      for (const cluster of [east(), west()]) {
        const host = `db-0.${cluster.name}.${nameOf('db')}`
        const addresses = await field(cluster, 'pod/db-0', '{.status.podIPs[*].ip}')
        await eventually(async () => {
          const resolved = await inClient(west(), `dig +short ${host} A; dig +short ${host} AAAA`)
          expect(resolved.trim().split('\n')).toEqual(addresses)
        }, patienceMs)
        expect(await inClient(west(), `curl --silent --max-time 5 http://${host}:8080`)).toMatch(/^db-0 /)
      }
    })

    it('keep what the page says', () => eventually(() => keepsWhatThePageSays(routing), patienceMs))

    it('open no connection to a cluster that is drained, and keep those that there are', async () => {
      await inTheEnd(curl('web'), both)
      await inClient(west(), `(${holdOn('web-east')}) </dev/null >/tmp/held 2>&1 &`)
      const answers = async (): Promise<readonly string[]> =>
        (await inClient(west(), 'cat /tmp/held')).trim().split('\n')
      await eventually(async () => expect((await answers()).length).toBeGreaterThan(2), patienceMs)
      expect(await readiness(west())).toEqual(['true', 'true'])
      expect(await rulesTo(east(), west(), proxyMode)).not.toEqual([])
      await taint([{ key: 'maintenance', effect: 'NoNewConnections' }])
      await eventually(async () => expect(await readiness(west())).toEqual(['false', 'false']), patienceMs)
      await eventually(async () => expect(await rulesTo(east(), west(), proxyMode)).toEqual([]), patienceMs)
      // Not in the end but from now on: not one more.
      for (const family of ['-4', '-6'])
        expect(await reached(west(), curl('web', family))).toEqual(['web-west'])
      expect(await reached(west(), packet('web', '-4'), manifold.packets)).toEqual(['web-west'])
      const before = (await answers()).length
      await eventually(async () => expect((await answers()).length).toBeGreaterThan(before + 2), patienceMs)
      expect((await answers()).at(-1)).toMatch(/^web-east /)
      await taint([{ key: 'maintenance', effect: 'NoImport' }])
      await inTheEnd(curl('web'), ['web-west'])
      await taint(null)
      await inTheEnd(curl('web'), both)
    }, 300_000)
  })
})
