// Cases of what the importing cluster is and does, and of clusters that are cut off.
import { never } from '../../../src/kernel/abort.ts'
import { serviceImports, slices } from '../../support/memory-fleet.ts'
import { closing, cut, exporting, exportOf, gone, opened, passing, restored } from '../acts.ts'
import { type Case, imported, nowhere, ok } from '../case.ts'

const vip = { 'web A': 'VIP4' }
const oneSlice = ['c1 http:8080 10.1.0.1']
const six = { spec: { ipFamilies: ['IPv6' as const] }, addressTypes: ['IPv6' as const] }
const dual = {
  spec: { ipFamilies: ['IPv4' as const, 'IPv6' as const] },
  addressTypes: ['IPv4' as const, 'IPv6' as const],
}
const sixSlice = ['c1 http:8080 fd00:1::1']
const seenOfOne = { import: imported(), slices: oneSlice, dns: vip }
const silent = [cut('c2')]

export const importers: readonly Case[] = [
  {
    title: '35: an annotation that is exported no more, and one of somebody else',
    phases: [
      exporting('c1@10', { exported: { exportedAnnotations: { x: '1' } } }),
      [
        exportOf('c1@10', { exported: {} }),
        async fleet => {
          const { local } = fleet.member('c3')
          const annotations = { 'multicluster.kubernetes.io/derived-service': 'derived-1' }
          const patch = { metadata: { annotations } }
          await local.mergePatch(serviceImports, { namespace: 'shop', name: 'web' }, patch, { signal: never })
        },
      ],
    ],
    keeps: ['uid', 'ips'],
    seen: seenOfOne,
    stays: { c3: { 'multicluster.kubernetes.io/derived-service': 'derived-1' } },
    exports: { c1: ok },
  },
  {
    title: '40: an importer that has not the family',
    families: { c3: ['IPv4'] },
    phases: [exporting('c1@10', six)],
    seen: {
      import: imported({ families: 'IPv6', addresses: 'IPv6' }),
      slices: sixSlice,
      dns: { 'web A': 'NODATA', 'web AAAA': 'VIP6' },
    },
    sees: {
      c3: {
        import: imported({ families: 'IPv6', addresses: '', ready: 'False/IPFamilyNotSupported' }),
        slices: [],
        dns: { 'web A': 'NODATA', 'web AAAA': 'NODATA' },
      },
    },
    exports: { c1: ok },
  },
  {
    title: '41: an importer that has one of the families',
    families: { c3: ['IPv4'] },
    phases: [exporting('c1@10', dual)],
    seen: {
      import: imported({ families: 'IPv4 IPv6', addresses: 'IPv4 IPv6' }),
      slices: [...oneSlice, ...sixSlice],
      dns: { 'web A': 'VIP4', 'web AAAA': 'VIP6' },
    },
    sees: { c3: { import: imported(), slices: oneSlice, dns: { 'web A': 'VIP4', 'web AAAA': 'NODATA' } } },
    exports: { c1: ok },
  },
  {
    title: '46: an importer without the namespace',
    bare: ['c3'],
    phases: [exporting('c1@10')],
    seen: seenOfOne,
    sees: { c3: nowhere },
    exports: { c1: ok },
  },
  {
    title: '46: an importer that gets the namespace',
    bare: ['c3'],
    phases: [[...exporting('c1@10'), opened('c3')]],
    seen: seenOfOne,
    exports: { c1: ok },
  },
  {
    title: '47: an importer whose namespace is going',
    phases: [exporting('c1@10'), [closing('c3')], [gone('c3', serviceImports), goneSlices('c3')]],
    seen: seenOfOne,
    sees: { c3: nowhere },
    exports: { c1: ok },
  },
  {
    title: '49: a cluster that is not heard of past its lease',
    phases: [[...exporting('c1@10'), ...exporting('c2@20')], silent, [passing(60)]],
    keeps: ['uid', 'ips'],
    seen: { import: imported({ clusters: 'c1 c2' }), slices: oneSlice, dns: vip },
    sees: { c2: { slices: [...oneSlice, 'c2 http:8080 10.2.0.1'] } },
    exports: { c1: ok, c2: ok },
  },
  {
    title: '49: and is heard of again',
    phases: [
      [...exporting('c1@10'), ...exporting('c2@20')],
      silent,
      [passing(60)],
      [restored('c2')],
      [passing(60)],
    ],
    keeps: ['uid', 'ips'],
    seen: {
      import: imported({ clusters: 'c1 c2' }),
      slices: [...oneSlice, 'c2 http:8080 10.2.0.1'],
      dns: vip,
    },
    exports: { c1: ok, c2: ok },
  },
  {
    title: '50: somebody deletes an import',
    phases: [exporting('c1@10'), [gone('c3', serviceImports), goneSlices('c3')]],
    keeps: ['ips'],
    seen: seenOfOne,
    exports: { c1: ok },
  },
]

function goneSlices(cluster: string): Case['phases'][number][number] {
  const labelSelector = 'multicluster.kubernetes.io/source-cluster'
  return fleet =>
    fleet.member(cluster).local.deleteCollection(slices, { namespace: 'shop', labelSelector }, never)
}
