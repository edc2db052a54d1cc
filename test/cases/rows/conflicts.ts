// Cases of several exports: what wins, and what is told.
import { exporting, serving, sliceOf, unexport } from '../acts.ts'
import { type Case, conflict, headlessImport, imported, ok } from '../case.ts'

const headless = { clusterIP: 'None' }
const vip = { 'web A': 'VIP4', 'web SRV': '0 100 80 web' }
const oneSlice = ['c1 http:8080 10.1.0.1']
const twoSlices = [...oneSlice, 'c2 http:8080 10.2.0.1']
const of2 = { clusters: 'c1 c2' }
const clientIp = (timeoutSeconds: number) => ({
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds } },
})
const all = (text: string) => ({ c1: text, c2: text })

function without(import_: ReturnType<typeof imported>, field: 'internal') {
  const { [field]: _left, ...rest } = import_
  return rest
}

export const conflicts: readonly Case[] = [
  {
    title: '2: two exports that agree',
    phases: [exporting('c1@10'), exporting('c2@20')],
    keeps: ['uid', 'ips'],
    seen: { import: imported(of2), slices: twoSlices, dns: vip },
    exports: all(ok),
  },
  {
    title: '5: ClusterIP is older than headless',
    phases: [[...exporting('c1@10'), ...exporting('c2@20', { spec: headless })]],
    seen: { import: imported(of2), slices: twoSlices, dns: vip },
    exports: all(conflict('TypeConflict')),
  },
  {
    title: '7: the older of them leaves',
    phases: [[...exporting('c1@10'), ...exporting('c2@20', { spec: headless })], [unexport('c1')]],
    keeps: ['uid'],
    seen: {
      import: headlessImport({ clusters: 'c2' }),
      slices: ['c2 http:8080 10.2.0.1'],
      dns: { 'web A': '10.2.0.1' },
    },
    exports: { c2: ok },
  },
  {
    title: '8: a tie goes to the smaller cluster id',
    phases: [[...exporting('c2@10', { spec: headless }), ...exporting('c1@10')]],
    seen: { import: imported(of2), slices: twoSlices, dns: vip },
    exports: all(conflict('TypeConflict')),
  },
  {
    title: '10: NodePort and LoadBalancer are no conflict',
    phases: [
      [
        ...exporting('c1@10', { spec: { type: 'NodePort' } }),
        ...exporting('c2@20', { spec: { type: 'LoadBalancer' } }),
      ],
    ],
    seen: { import: imported(of2), slices: twoSlices, dns: vip },
    exports: all(ok),
  },
  {
    title: '17: one cluster has a port more',
    phases: [[...exporting('c1@10'), ...exporting('c2@20', { ports: 'http:80 metrics:9090' })]],
    seen: {
      import: imported({ ...of2, ports: 'http:80/TCP metrics:9090/TCP' }),
      slices: [...oneSlice, 'c2 http:8080,metrics:17090 10.2.0.1'],
      dns: { ...vip, 'web SRV': '0 100 80 web, 0 100 9090 web', '_metrics._tcp.web SRV': '0 100 9090 web' },
    },
    exports: all(conflict('PortConflict')),
  },
  {
    title: '19: the same socket under another name',
    phases: [[...exporting('c1@10'), ...exporting('c2@20', { ports: 'web:80' })]],
    seen: {
      import: imported(of2),
      slices: twoSlices,
      dns: { ...vip, '_web._tcp.web SRV': 'NXDOMAIN' },
    },
    exports: all(conflict('PortConflict')),
  },
  {
    title: '20: the same number of another protocol',
    phases: [[...exporting('c1@10'), ...exporting('c2@20', { ports: 'dns:80/UDP' })]],
    seen: {
      import: imported({ ...of2, ports: 'http:80/TCP dns:80/UDP' }),
      slices: [...oneSlice, 'c2 dns:8080 10.2.0.1'],
      dns: { ...vip, '_dns._udp.web SRV': '0 100 80 web' },
    },
    exports: all(conflict('PortConflict')),
  },
  {
    title: '22: only one names an application protocol',
    phases: [[...exporting('c1@10', { appProtocol: 'http' }), ...exporting('c2@20')]],
    seen: { import: imported({ ...of2, ports: 'http:80/TCP (http)' }), slices: twoSlices, dns: vip },
    exports: all(conflict('PortConflict')),
  },
  {
    title: '23: the empty name is a name',
    phases: [[...exporting('c1@10', { ports: ':80' }), ...exporting('c2@20', { ports: ':81' })]],
    seen: {
      import: imported({ ...of2, ports: '80/TCP' }),
      slices: ['c1 :8080 10.1.0.1'],
      dns: { 'web A': 'VIP4', 'web SRV': '0 100 80 web', '_http._tcp.web SRV': 'NXDOMAIN' },
    },
    exports: all(conflict('PortConflict')),
  },
  {
    title: '25: one port hits the socket, the other the name',
    phases: [[...exporting('c1@10', { ports: 'a:80' }), ...exporting('c2@20', { ports: 'b:80 a:81' })]],
    seen: {
      import: imported({ ...of2, ports: 'a:80/TCP' }),
      slices: ['c1 a:8080 10.1.0.1', 'c2 a:8080 10.2.0.1'],
      dns: { ...vip, '_b._tcp.web SRV': 'NXDOMAIN' },
    },
    exports: all(conflict('PortConflict')),
  },
  {
    title: '26: the oldest of three wins',
    phases: [
      [
        ...exporting('c1@30', { ports: 'http:80' }),
        ...exporting('c2@10', { ports: 'http:81' }),
        ...exporting('c3@20', { ports: 'http:82' }),
      ],
    ],
    seen: {
      import: imported({ clusters: 'c1 c2 c3', ports: 'http:81/TCP' }),
      slices: ['c2 http:8081 10.2.0.1'],
      dns: { 'web A': 'VIP4', 'web SRV': '0 100 81 web' },
    },
    exports: { ...all(conflict('PortConflict')), c3: conflict('PortConflict') },
  },
  {
    title: '28: affinity timeouts differ',
    phases: [[...exporting('c1@10', { spec: clientIp(10) }), ...exporting('c2@20', { spec: clientIp(20) })]],
    seen: { import: imported({ ...of2, affinity: 'ClientIP 10' }), slices: twoSlices, dns: vip },
    exports: all(conflict('SessionAffinityConfigConflict')),
  },
  {
    title: '29: no internal traffic policy means Cluster',
    phases: [[...exporting('c1@10', { policy: 'none' }), ...exporting('c2@20')]],
    seen: { import: without(imported(of2), 'internal'), slices: twoSlices, dns: vip },
    exports: all(ok),
  },
  {
    title: '31: no traffic distribution is not any',
    phases: [
      [...exporting('c1@10'), ...exporting('c2@20', { spec: { trafficDistribution: 'PreferClose' } })],
    ],
    seen: { import: imported(of2), slices: twoSlices, dns: vip },
    exports: all(conflict('TrafficDistributionConflict')),
  },
  {
    title: '32: labels are taken as a whole',
    phases: [
      [
        ...exporting('c1@10', { exported: { exportedLabels: { a: '1' } } }),
        ...exporting('c2@20', { exported: { exportedLabels: { a: '1', b: '2' } } }),
      ],
    ],
    seen: { import: imported({ ...of2, labels: { a: '1' } }), slices: twoSlices, dns: vip },
    exports: all(conflict('LabelsConflict')),
  },
  {
    title: '37: one cluster has a family less',
    phases: [
      [
        ...exporting('c1@10', { spec: { ipFamilies: ['IPv4', 'IPv6'] }, addressTypes: ['IPv4', 'IPv6'] }),
        ...exporting('c2@20'),
      ],
    ],
    seen: { import: imported(of2), slices: twoSlices, dns: { ...vip, 'web AAAA': 'NODATA' } },
    exports: all(ok),
  },
  {
    title: '38: the order of families is that of the oldest export',
    phases: [
      [
        ...exporting('c1@10', { spec: { ipFamilies: ['IPv6', 'IPv4'] } }),
        ...exporting('c2@20', { spec: { ipFamilies: ['IPv4', 'IPv6'] } }),
      ],
    ],
    seen: {
      import: imported({ ...of2, families: 'IPv6 IPv4', addresses: 'IPv6 IPv4' }),
      slices: twoSlices,
      dns: { ...vip, 'web AAAA': 'VIP6' },
    },
    exports: all(ok),
  },
  {
    title: '43: two that disagree agree again',
    phases: [
      [...exporting('c1@10'), ...exporting('c2@20', { ports: 'http:8080' })],
      [serving('c2'), sliceOf('c2', 'IPv4')],
    ],
    keeps: ['uid', 'ips'],
    seen: { import: imported(of2), slices: twoSlices, dns: vip },
    exports: all(ok),
  },
  {
    title: '44: the older of two that disagree leaves',
    phases: [[...exporting('c1@10'), ...exporting('c2@20', { ports: 'http:8080' })], [unexport('c1')]],
    keeps: ['uid', 'ips'],
    seen: {
      import: imported({ clusters: 'c2', ports: 'http:8080/TCP' }),
      slices: ['c2 http:16080 10.2.0.1'],
      dns: { 'web A': 'VIP4', 'web SRV': '0 100 8080 web' },
    },
    exports: { c2: ok },
  },
  {
    title: '55: two StatefulSets with pods of one name',
    phases: [
      ['c1@10', 'c2@20'].flatMap(at =>
        exporting(at, {
          spec: headless,
          endpoints: [{ addresses: [`10.${at[1]}.0.1`], hostname: 'web-0', conditions: { ready: true } }],
        }),
      ),
    ],
    seen: {
      import: headlessImport(of2),
      slices: ['c1 http:8080 web-0=10.1.0.1', 'c2 http:8080 web-0=10.2.0.1'],
      dns: {
        'web A': '10.1.0.1, 10.2.0.1',
        'web-0.c1.web A': '10.1.0.1',
        'web-0.c2.web A': '10.2.0.1',
        'web-0.web A': 'NXDOMAIN',
        'c1.web A': 'NODATA',
      },
    },
    exports: all(ok),
  },
  {
    title: '65: a cluster that exports nothing sees what the others see',
    members: ['c1', 'c2', 'c3', 'c4'],
    phases: [[...exporting('c1@10'), ...exporting('c2@20', { spec: headless })]],
    seen: { import: imported(of2), slices: twoSlices, dns: vip },
    exports: all(conflict('TypeConflict')),
  },
]
