// Cases of one export.
import { derivedServiceName } from '../../../src/api/derived-service.ts'
import { exporting, exportOf, serving, sliceOf, unexport, withdraw } from '../acts.ts'
import { type Case, headlessImport, imported, nowhere, ok } from '../case.ts'

const clusterIp = { 'web A': 'VIP4', 'web AAAA': 'NODATA', 'web SRV': '0 100 80 web', 'c1.web A': 'NXDOMAIN' }
const headless = { clusterIP: 'None' }

export const oneExport: readonly Case[] = [
  {
    title: '1: one export',
    phases: [exporting('c1@10')],
    seen: { import: imported(), slices: ['c1 http:8080 10.1.0.1'], dns: clusterIp },
    exports: { c1: ok },
  },
  {
    title: '4: a headless export',
    phases: [exporting('c1@10', { spec: headless })],
    seen: {
      import: headlessImport(),
      slices: ['c1 http:8080 10.1.0.1'],
      dns: { 'web A': '10.1.0.1', 'web SRV': '0 100 8080 10-1-0-1.c1.web', 'c1.web A': 'NODATA' },
    },
    exports: { c1: ok },
  },
  {
    title: '11: an ExternalName',
    phases: [exporting('c1@10', { spec: { type: 'ExternalName', clusterIP: '' } })],
    seen: nowhere,
    exports: { c1: 'False/InvalidServiceType False/Failed' },
  },
  {
    title: '13: no Service',
    phases: [[exportOf('c1@10')]],
    seen: nowhere,
    exports: { c1: 'False/NoService False/Pending' },
  },
  {
    title: '14: the Service comes later, and its export has kept its place',
    phases: [
      [exportOf('c1@10'), ...exporting('c2@20', { ports: 'http:81' })],
      [serving('c1'), sliceOf('c1', 'IPv4')],
    ],
    seen: {
      import: imported({ clusters: 'c1 c2' }),
      slices: ['c1 http:8080 10.1.0.1'],
      dns: clusterIp,
    },
    exports: {
      c1: 'True/Valid True/Exported True/PortConflict',
      c2: 'True/Valid True/Exported True/PortConflict',
    },
  },
  {
    title: '16: the Service is deleted',
    phases: [exporting('c1@10'), [withdraw('c1')]],
    seen: nowhere,
    exports: { c1: 'False/NoService False/Pending' },
  },
  {
    title: '34: exported annotations and no others',
    phases: [exporting('c1@10', { exported: { exportedAnnotations: { x: '1' } }, annotations: { y: '1' } })],
    seen: {
      import: imported({ annotations: { x: '1' } }),
      slices: ['c1 http:8080 10.1.0.1'],
      dns: clusterIp,
    },
    exports: { c1: ok },
  },
  {
    title: '52: a headless Service without ports',
    phases: [exporting('c1@10', { spec: headless, ports: '' })],
    seen: {
      import: headlessImport({ ports: '' }),
      slices: ['c1 - 10.1.0.1'],
      dns: { 'web A': '10.1.0.1', 'web SRV': 'NODATA', '_http._tcp.web SRV': 'NXDOMAIN' },
    },
    exports: { c1: ok },
  },
  {
    title: '53: only ready endpoints have names',
    phases: [
      exporting('c1@10', {
        spec: headless,
        endpoints: [
          { addresses: ['10.1.0.1'], hostname: 'web-0', conditions: { ready: true, serving: true } },
          { addresses: ['10.1.0.2'], hostname: 'web-1', conditions: { ready: false, serving: false } },
          { addresses: ['10.1.0.3'], conditions: { ready: false, serving: true, terminating: true } },
        ],
      }),
    ],
    seen: {
      import: headlessImport(),
      slices: ['c1 http:8080 web-0=10.1.0.1 web-1=10.1.0.2(not ready) 10.1.0.3(terminating)'],
      dns: { 'web A': '10.1.0.1', 'web-0.c1.web A': '10.1.0.1', 'web-1.c1.web A': 'NXDOMAIN' },
    },
    exports: { c1: ok },
  },
  {
    title: '56: no endpoint of a headless service is ready',
    phases: [
      exporting('c1@10', { spec: headless }),
      [
        sliceOf('c1', 'IPv4', {
          endpoints: [{ addresses: ['10.1.0.1'], hostname: 'web-0', conditions: { ready: false } }],
        }),
      ],
    ],
    keeps: ['uid'],
    seen: {
      import: headlessImport(),
      slices: ['c1 http:8080 web-0=10.1.0.1(not ready)'],
      dns: { 'web A': 'NXDOMAIN', 'web-0.c1.web A': 'NXDOMAIN' },
    },
    exports: { c1: ok },
  },
  {
    title: '58: a name that no Service can have',
    service: 'a.b',
    phases: [[exportOf('c1@10', { name: 'a.b' })]],
    seen: { import: undefined, slices: [], dns: { 'a.b A': 'NXDOMAIN' } },
    exports: { c1: 'False/NoService False/Pending' },
  },
  {
    title: '59: a Service that is derived from an import',
    routing: 'shared',
    service: derivedServiceName({ namespace: 'shop', name: 'web' }),
    phases: [
      exporting('c1@10'),
      [exportOf('c2@20', { name: derivedServiceName({ namespace: 'shop', name: 'web' }) })],
    ],
    seen: { import: undefined, slices: [], dns: { 'web A': 'VIP4' } },
    exports: { c2: 'False/InvalidServiceType False/Failed' },
  },
  {
    title: 'the export goes',
    phases: [exporting('c1@10'), [unexport('c1')]],
    seen: nowhere,
    exports: {},
  },
]
