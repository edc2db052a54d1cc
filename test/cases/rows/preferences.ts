// Cases of the order in which a cluster uses the endpoints of others, and of names for each cluster.
import { annotated, exporting, located, relabelled, sliceOf } from '../acts.ts'
import { type Case, conflict, headlessImport, imported, ok } from '../case.ts'

const vip = { 'web A': 'VIP4' }
const one = 'c1 http:8080 10.1.0.1'
const two = 'c2 http:8080 10.2.0.1'
const unready = { endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: false } }] }
const both = imported({ clusters: 'c1 c2' })
const seenOfBoth = { import: both, slices: [one, two], dns: vip }
const exports = { c1: ok, c2: ok }
const prefer = (cluster: string, order: string, of: 'namespace' | 'import' = 'namespace') =>
  annotated(cluster, of, 'isthmus.dev/prefer', order)
/** Two clusters in two regions. */
const regions = [located('c1', 'eu'), located('c2', 'us'), ...exporting('c1@10'), ...exporting('c2@20')]
const headless = { spec: { clusterIP: 'None' } }
const headlessRegions = [
  located('c1', 'eu'),
  located('c2', 'us'),
  ...exporting('c1@10', headless),
  ...exporting('c2@20', headless),
]
const names = { 'web A': '10.1.0.1, 10.2.0.1', '10-2-0-1.c2.web A': '10.2.0.1' }
const headlessBoth = headlessImport({ clusters: 'c1 c2' })

export const preferences: readonly Case[] = [
  {
    title: 'a region that is preferred',
    phases: [[...regions, prefer('c3', 'cluster, region=eu, any')]],
    seen: seenOfBoth,
    sees: { c3: { slices: [one, `${two}(not ready)`] } },
    exports,
  },
  {
    title: 'a region that is preferred, and has nothing that is ready',
    phases: [[...regions, prefer('c3', 'region=eu, any')], [sliceOf('c1', 'IPv4', unready)]],
    seen: { ...seenOfBoth, slices: [`${one}(not ready)`, two] },
    exports,
  },
  {
    title: 'a region that is preferred, and whose slice becomes that of another service',
    phases: [
      [...regions, prefer('c1', 'cluster, any'), prefer('c3', 'region=eu, any')],
      [relabelled('c1', 'other')],
    ],
    seen: { ...seenOfBoth, slices: [two] },
    exports,
  },
  {
    title: 'a region that is preferred, and has something again',
    phases: [
      [...regions, prefer('c3', 'region=eu, any')],
      [sliceOf('c1', 'IPv4', unready)],
      [sliceOf('c1', 'IPv4')],
    ],
    seen: seenOfBoth,
    sees: { c3: { slices: [one, `${two}(not ready)`] } },
    exports,
  },
  {
    title: 'a region that is never left',
    phases: [[...headlessRegions, prefer('c3', 'region=eu')], [sliceOf('c1', 'IPv4', unready)]],
    seen: {
      import: headlessBoth,
      slices: [`${one}(not ready)`, two],
      dns: { 'web A': '10.2.0.1', '10-2-0-1.c2.web A': '10.2.0.1' },
    },
    sees: {
      c3: {
        slices: [`${one}(not ready)`],
        dns: { 'web A': 'NXDOMAIN', '10-2-0-1.c2.web A': 'NXDOMAIN' },
      },
    },
    exports,
  },
  {
    title: 'the own cluster first',
    phases: [[...regions, prefer('c1', 'cluster, any'), prefer('c2', 'cluster')]],
    seen: seenOfBoth,
    sees: { c1: { slices: [one, `${two}(not ready)`] }, c2: { slices: [two] } },
    exports,
  },
  {
    title: 'names of a headless service whose farther endpoints stand by',
    phases: [[...headlessRegions, prefer('c3', 'region=eu, any')]],
    seen: { import: headlessBoth, slices: [one, two], dns: names },
    sees: { c3: { slices: [one, `${two}(not ready)`], dns: { ...names, 'web A': '10.1.0.1' } } },
    exports,
  },
  {
    title: 'a port that nothing nearer has',
    phases: [
      [
        ...exporting('c1@10'),
        ...exporting('c2@20', { ports: 'http:80 metrics:90' }),
        located('c1', 'eu'),
        prefer('c3', 'region=eu, any'),
      ],
    ],
    seen: {
      import: imported({ clusters: 'c1 c2', ports: 'http:80/TCP metrics:90/TCP' }),
      slices: [one, 'c2 http:8080,metrics:8090 10.2.0.1'],
      dns: vip,
    },
    exports: { c1: conflict('PortConflict'), c2: conflict('PortConflict') },
  },
  {
    title: 'a cluster that moves to another region',
    phases: [
      [...regions, prefer('c3', 'region=eu, any')],
      [located('c1', 'us'), located('c2', 'eu')],
    ],
    seen: seenOfBoth,
    sees: { c3: { slices: [`${one}(not ready)`, two] } },
    exports,
  },
  {
    title: 'an import that prefers otherwise than its namespace',
    phases: [[...regions, prefer('c3', 'region=eu')], [prefer('c3', 'region=us, any', 'import')]],
    seen: seenOfBoth,
    sees: { c3: { slices: [`${one}(not ready)`, two] } },
    exports,
  },
  {
    title: 'a preference that cannot be read',
    phases: [[...regions, prefer('c3', 'nearest')]],
    seen: seenOfBoth,
    exports,
  },
  {
    title: 'a preference that is given up',
    phases: [[...regions, prefer('c3', 'region=eu')], [prefer('c3', 'any')]],
    seen: seenOfBoth,
    exports,
  },
  {
    title: 'names of each cluster, by the wish of the exports',
    phases: [
      [
        ...exporting('c1@10', perCluster('true')),
        ...exporting('c2@20', perCluster('true')),
        located('c1', 'eu'),
        prefer('c3', 'region=eu, any'),
      ],
    ],
    seen: {
      import: imported({ clusters: 'c1 c2', annotations: { 'isthmus.dev/expose-per-cluster': 'true' } }),
      slices: [one, two],
      dns: { ...vip, 'c1.web A': '10.1.0.1', 'c2.web A': '10.2.0.1', 'c2.web SRV': '0 100 8080 c2.web' },
    },
    sees: { c3: { slices: [one, `${two}(not ready)`] } },
    exports,
  },
  {
    title: 'names of each cluster, by the wish of one importer',
    phases: [exporting('c1@10'), [annotated('c3', 'import', 'isthmus.dev/expose-per-cluster', 'true')]],
    seen: { import: imported(), slices: [one], dns: { ...vip, 'c1.web A': 'NXDOMAIN' } },
    sees: { c3: { dns: { ...vip, 'c1.web A': '10.1.0.1' } } },
    exports: { c1: ok },
  },
]

function perCluster(wanted: string) {
  return { exported: { exportedAnnotations: { 'isthmus.dev/expose-per-cluster': wanted } } }
}
