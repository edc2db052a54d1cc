// Cases of what users choose by annotations.
import { cut, exporting, exportOf, opened, passing, restored } from '../acts.ts'
import { type Case, conflict, headlessImport, imported, nowhere, ok } from '../case.ts'

const vip = { 'web A': 'VIP4' }
const members = ['c1', 'c2', 'c3', 'c4']
const ofOne = 'c1 http:8080 10.1.0.1'
const seenOfOne = { import: imported(), slices: [ofOne], dns: vip }
const taken = (said: string): string => `${said} True/Imported`
const consumers = (ids: string) => ({ annotations: { 'isthmus.dev/consumers': ids } })

/** Of the second one's endpoints when it is silent. */
const bothWith = (what: string) => [
  ...exporting('c1@10'),
  ...exporting('c2@20', { annotations: { 'isthmus.dev/when-unreachable': what } }),
]
const seenOfBoth = { import: imported({ clusters: 'c1 c2' }), dns: vip }

export const options: readonly Case[] = [
  {
    title: 'an export for one cluster',
    members,
    phases: [exporting('c1@10', consumers('c2'))],
    seen: nowhere,
    sees: { c1: seenOfOne, c2: seenOfOne },
    exports: { c1: taken(ok) },
  },
  {
    title: 'an export for one cluster, and then for another one too',
    members,
    phases: [exporting('c1@10', consumers('c2')), [exportOf('c1@10', consumers(' c3 ,c2'))]],
    seen: seenOfOne,
    sees: { c4: nowhere },
    exports: { c1: taken(ok) },
  },
  {
    title: 'an export for two clusters, and then for one of them',
    members,
    phases: [exporting('c1@10', consumers('c2,c3')), [exportOf('c1@10', consumers('c2'))]],
    seen: nowhere,
    sees: { c1: seenOfOne, c2: seenOfOne },
    exports: { c1: taken(ok) },
  },
  {
    title: 'an export for a cluster that has not the namespace, and for one that is no member',
    bare: ['c3'],
    phases: [exporting('c1@10', consumers('c3,c9'))],
    seen: nowhere,
    sees: { c1: seenOfOne },
    exports: { c1: `${ok} False/NotImported` },
  },
  {
    title: 'an export for a cluster that gets the namespace',
    bare: ['c3'],
    phases: [[...exporting('c1@10', consumers('c2,c3')), opened('c3')]],
    seen: seenOfOne,
    exports: { c1: taken(ok) },
  },
  {
    title: 'an export for all, and then for none',
    phases: [exporting('c1@10'), [exportOf('c1@10', consumers(''))]],
    seen: nowhere,
    sees: { c1: seenOfOne },
    exports: { c1: taken(ok) },
  },
  {
    title: 'an export for what is no cluster id',
    phases: [exporting('c1@10', consumers('*, c2'))],
    seen: seenOfOne,
    sees: { c3: nowhere },
    exports: { c1: taken(ok) },
  },
  {
    title: 'one export for all and a younger one for one cluster',
    members,
    phases: [[...exporting('c1@10'), ...exporting('c2@20', { ports: 'http:81', ...consumers('c3') })]],
    seen: seenOfOne,
    sees: {
      c2: { import: imported({ clusters: 'c1 c2' }) },
      c3: { import: imported({ clusters: 'c1 c2' }) },
    },
    exports: { c1: conflict('PortConflict'), c2: taken(conflict('PortConflict')) },
  },
  {
    title: 'one export for all and an older one, headless, for one cluster',
    members,
    phases: [
      [
        ...exporting('c1@10', { spec: { clusterIP: 'None' }, ports: 'http:81', ...consumers('c3') }),
        ...exporting('c2@20', { ports: 'http:81 metrics:90' }),
      ],
    ],
    seen: {
      import: imported({ ports: 'http:81/TCP metrics:90/TCP', clusters: 'c2' }),
      slices: ['c2 http:8081,metrics:8090 10.2.0.1'],
      dns: vip,
    },
    sees: {
      c1: {
        import: headlessImport({ ports: 'http:81/TCP metrics:90/TCP', clusters: 'c1 c2' }),
        slices: ['c1 http:8081 10.1.0.1', 'c2 http:8081,metrics:8090 10.2.0.1'],
        dns: { 'web A': '10.1.0.1, 10.2.0.1' },
      },
      c3: {
        import: headlessImport({ ports: 'http:81/TCP metrics:90/TCP', clusters: 'c1 c2' }),
        slices: ['c1 http:8081 10.1.0.1', 'c2 http:8081,metrics:8090 10.2.0.1'],
        dns: { 'web A': '10.1.0.1, 10.2.0.1' },
      },
    },
    exports: {
      c1: taken(conflict('PortConflict,TypeConflict')),
      c2: conflict('PortConflict,TypeConflict'),
    },
  },
  {
    title: 'two exports that nobody imports together',
    members,
    phases: [
      [
        ...exporting('c1@10', consumers('c3')),
        ...exporting('c2@20', {
          ports: 'http:81',
          spec: { sessionAffinity: 'ClientIP' },
          ...consumers('c4'),
        }),
      ],
    ],
    seen: {
      import: imported({ ports: 'http:81/TCP', affinity: 'ClientIP', clusters: 'c2' }),
      slices: ['c2 http:8081 10.2.0.1'],
      dns: vip,
    },
    sees: { c1: seenOfOne, c3: seenOfOne },
    exports: { c1: taken(ok), c2: taken(ok) },
  },
  {
    title: 'a silent cluster whose endpoints are to stay',
    phases: [bothWith('keep'), [cut('c2')], [passing(600)]],
    keeps: ['uid', 'ips'],
    seen: { ...seenOfBoth, slices: [ofOne, 'c2 http:8080 10.2.0.1'] },
    exports: { c1: ok, c2: ok },
  },
  {
    title: 'a silent cluster whose endpoints are to drain at once',
    phases: [bothWith('drain'), [cut('c2')], [passing(60)]],
    keeps: ['uid', 'ips'],
    seen: { ...seenOfBoth, slices: [ofOne, 'c2 http:8080 10.2.0.1(not ready)'] },
    sees: { c2: { slices: [ofOne, 'c2 http:8080 10.2.0.1'] } },
    exports: { c1: ok, c2: ok },
  },
  {
    title: 'a silent cluster whose endpoints are to drain after a while',
    phases: [bothWith('drain=60s'), [cut('c2')], [passing(200)]],
    keeps: ['uid', 'ips'],
    seen: { ...seenOfBoth, slices: [ofOne, 'c2 http:8080 10.2.0.1(not ready)'] },
    sees: { c2: { slices: [ofOne, 'c2 http:8080 10.2.0.1'] } },
    exports: { c1: ok, c2: ok },
  },
  {
    title: 'a silent cluster whose endpoints are to drain after a while that has not passed',
    phases: [bothWith('drain=3600s'), [cut('c2')], [passing(200)]],
    seen: { ...seenOfBoth, slices: [ofOne, 'c2 http:8080 10.2.0.1'] },
    exports: { c1: ok, c2: ok },
  },
  {
    title: 'a cluster whose endpoints drained is heard of again',
    phases: [bothWith('drain'), [cut('c2')], [passing(60)], [restored('c2')], [passing(60)]],
    seen: { ...seenOfBoth, slices: [ofOne, 'c2 http:8080 10.2.0.1'] },
    exports: { c1: ok, c2: ok },
  },
  {
    title: 'a silent cluster whose endpoints are to do what nobody knows',
    phases: [bothWith('drain=5m'), [cut('c2')], [passing(60)]],
    seen: { ...seenOfBoth, slices: [ofOne] },
    sees: { c2: { slices: [ofOne, 'c2 http:8080 10.2.0.1'] } },
    exports: { c1: ok, c2: ok },
  },
]
