import { describe, expect, it } from 'vitest'
import { sampleOf } from '../../../../../src/api/derive/sample.ts'
import { type TableCells, tableCells, tableColumns } from '../../../../../src/api/derive/table.ts'
import { applyDefaults } from '../../../../../src/api/derive/validate.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'
import type { KubeObject } from '../../../../../src/api/meta.ts'
import { aCondition, anExport, anImport, kindNamed } from '../../../../support/mcs-objects.ts'
import { shownCells } from '../../../../support/table-cells.ts'

const nowMs = Date.parse('2026-01-02T03:04:05Z')

const cellsOf = (cells: TableCells, at = nowMs): readonly unknown[] => shownCells(cells, at)

/** What kubectl prints: header and one row, `wide` columns in brackets. */
function printed(name: string, object: KubeObject): Readonly<Record<string, unknown>> {
  const kind = kindNamed(name)
  const aged = { ...object, metadata: { ...object.metadata, creationTimestamp: '2026-01-02T03:00:00Z' } }
  const cells = cellsOf(tableCells(kind, applyDefaults(kind, aged)))
  const columns = tableColumns(kind)
  return Object.fromEntries(
    columns.map((c, i) => [c.priority === 0 ? c.name : `(${c.name})`, cells[i]] as const),
  )
}

describe('the table', () => {
  it.each(kinds.map(kind => [kind.kind, kind] as const))(
    'of %s names its object in one column',
    (_, kind) => {
      const columns = tableColumns(kind)
      const cells = cellsOf(tableCells(kind, sampleOf(kind)))
      expect(cells).toHaveLength(columns.length)
      expect(columns.filter(c => c.format === 'name').map(c => c.type)).toEqual(['string'])
      expect(cells[columns.findIndex(c => c.format === 'name')]).toBe(kind.sampleName)
      for (const column of columns) expect(column.description).not.toBe('')
    },
  )

  it('is made once, and only its ages go on', () => {
    const object = { ...anImport(), metadata: { name: 'age', creationTimestamp: '2026-01-02T03:04:00Z' } }
    const cells = tableCells(kindNamed('ServiceImport'), object)
    expect(cellsOf(cells)).toContain('5s')
    expect(cellsOf(cells, nowMs + 60_000)).toContain('65s')
  })

  it('tells the age of what has no time', () => {
    const cells = tableCells(kindNamed('ServiceImport'), anImport())
    expect(cellsOf(cells)).toContain('<unknown>')
  })

  it('begins as a kube-apiserver begins it', () => {
    expect(tableColumns(kindNamed('ServiceExport'))[0]).toMatchObject({
      name: 'Name',
      type: 'string',
      format: 'name',
      priority: 0,
    })
  })

  const exporting = (...clusters: readonly string[]) => ({ clusters: clusters.map(cluster => ({ cluster })) })
  const pending = aCondition({ type: 'Ready', status: 'False', reason: 'Pending', message: 'no address' })

  it('of imports shows what they offer', () => {
    const status = {
      ...exporting('east', 'west'),
      conditions: [aCondition({ type: 'Ready', reason: 'Ready' })],
    }
    const spec = { ips: ['10.0.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] }
    expect(printed('ServiceImport', { ...anImport(spec), status })).toEqual({
      Name: 'a',
      Type: 'ClusterSetIP',
      IP: '10.0.0.1,fd00::1',
      Ports: '80/TCP',
      Clusters: 'east,west',
      Ready: 'True',
      Age: '4m5s',
      '(Families)': 'IPv4,IPv6',
      '(From)': 'east,west',
      '(Reason)': 'Ready',
      '(Message)': null,
    })
  })

  it.each([
    ['without a status', anImport(), { IP: '<pending>', Clusters: null, Ready: null, '(From)': null }],
    [
      'without a spec',
      { ...anImport(), spec: undefined },
      { Type: null, IP: null, Ports: null, Clusters: null, Ready: null, '(Families)': null },
    ],
    [
      'headless and without ports',
      anImport({ type: 'Headless', ports: [], ips: [], ipFamilies: ['IPv6'] }),
      { Type: 'Headless', IP: 'None', Ports: '<none>', '(Families)': 'IPv6' },
    ],
    [
      'waiting for an address',
      { ...anImport({ ips: [] }), status: { conditions: [pending] } },
      { IP: '<pending>', Ready: 'False', '(Reason)': 'Pending', '(Message)': 'no address' },
    ],
    [
      'of a family that the cluster has not',
      {
        ...anImport({ ips: [] }),
        status: { conditions: [{ ...pending, reason: 'IPFamilyNotSupported', message: 'only IPv4 here' }] },
      },
      { IP: '<none>', '(Reason)': 'IPFamilyNotSupported', '(Message)': 'only IPv4 here' },
    ],
    [
      'of many clusters and ports',
      {
        ...anImport({ ports: [{ port: 53, protocol: 'UDP' }, { port: 53 }] }),
        status: exporting('a', 'b', 'c', 'd', 'e'),
      },
      { Ports: '53/UDP,53/TCP', Clusters: 'a,b,c + 2 more...', '(From)': 'a,b,c,d,e' },
    ],
  ])('of an import %s', (_, object, expected) => {
    expect(printed('ServiceImport', object)).toMatchObject(expected)
  })

  it('of exports shows how they do', () => {
    const status = {
      conditions: [aCondition(), aCondition({ type: 'Conflict', status: 'False', reason: 'NoConflicts' })],
    }
    expect(printed('ServiceExport', anExport({ status }))).toEqual({
      Name: 'web',
      Valid: 'True',
      Ready: null,
      Conflict: 'False',
      Age: '4m5s',
      '(Valid Reason)': 'Valid',
      '(Ready Reason)': null,
      '(Conflict Reason)': 'NoConflicts',
      '(Message)': null,
    })
  })

  it.each([
    ['without a status', [], { Valid: null, Ready: null, Conflict: null, '(Message)': null }],
    [
      'in conflict',
      [
        aCondition({ message: 'not exported: spec.exportedLabels[a b]' }),
        aCondition({ type: 'Ready', reason: 'Exported' }),
        aCondition({ type: 'Conflict', reason: 'PortConflict,TypeConflict', message: 'ports: …; type: …' }),
      ],
      {
        Conflict: 'True',
        '(Conflict Reason)': 'PortConflict,TypeConflict',
        '(Message)': 'not exported: spec.exportedLabels[a b]; ports: …; type: …',
      },
    ],
    [
      'without a Service',
      [
        aCondition({ status: 'False', reason: 'NoService', message: 'no Service web in namespace shop' }),
        aCondition({
          type: 'Ready',
          status: 'False',
          reason: 'Pending',
          message: 'no Service web in namespace shop',
        }),
      ],
      { Valid: 'False', Ready: 'False', '(Message)': 'no Service web in namespace shop' },
    ],
  ])('of an export %s', (_, conditions, expected) => {
    expect(printed('ServiceExport', anExport({ status: { conditions } }))).toMatchObject(expected)
  })

  it.each([
    [
      {
        spec: {
          clusterIP: '10.0.0.1',
          clusterIPs: ['10.0.0.1'],
          ports: [{ port: 80 }],
          selector: { b: '2', a: '1' },
        },
      },
      {
        Type: 'ClusterIP',
        'Cluster-IP': '10.0.0.1',
        'External-IP': '<none>',
        'Port(s)': '80/TCP',
        '(Selector)': 'a=1,b=2',
      },
    ],
    [
      { spec: { clusterIP: 'None', ports: [] } },
      { Type: 'ClusterIP', 'Cluster-IP': 'None', 'Port(s)': '<none>', '(Selector)': '<none>' },
    ],
    [
      {
        spec: {
          type: 'NodePort',
          ports: [
            { port: 80, nodePort: 30080 },
            { port: 53, protocol: 'UDP' },
          ],
        },
      },
      { Type: 'NodePort', 'External-IP': '<none>', 'Port(s)': '80:30080/TCP,53/UDP' },
    ],
    [{ spec: { type: 'LoadBalancer' } }, { 'External-IP': '<pending>' }],
    [
      {
        spec: { type: 'LoadBalancer', externalIPs: ['1.1.1.1'] },
        status: { loadBalancer: { ingress: [{ ip: '10.200.0.1' }, { hostname: 'lb.example.com' }] } },
      },
      { 'External-IP': '10.200.0.1,lb.example.com,1.1.1.1' },
    ],
    [
      { spec: { type: 'ExternalName', externalName: 'a.example.com' } },
      { 'Cluster-IP': '<none>', 'External-IP': 'a.example.com' },
    ],
  ])('of Services is the one that kubectl users know: %j', (content, cells) => {
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'shop' },
      ...content,
    }
    expect(printed('Service', service)).toMatchObject({ Name: 'web', Age: '4m5s', ...cells })
  })

  it('of slices shows three and counts the rest', () => {
    const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5']
    const slice = {
      ...sampleOf(kindNamed('EndpointSlice')),
      endpoints: addresses.map(a => ({ addresses: [a] })),
    }
    expect(printed('EndpointSlice', slice)).toMatchObject({
      AddressType: 'IPv4',
      Ports: '8080',
      Endpoints: '10.0.0.1,10.0.0.2,10.0.0.3 + 2 more...',
    })
    expect(printed('EndpointSlice', { ...slice, endpoints: [], ports: [] })).toMatchObject({
      Ports: '<unset>',
      Endpoints: '<unset>',
    })
  })

  it('of events shows when, what and where', () => {
    const event = {
      ...sampleOf(kindNamed('Event')),
      lastTimestamp: '2026-01-02T03:04:00Z',
      firstTimestamp: '2026-01-02T02:04:05Z',
      count: 7,
    }
    expect(printed('Event', event)).toEqual({
      'Last Seen': '5s',
      Type: 'Normal',
      Reason: 'Exported',
      Object: 'serviceexport/web',
      '(Subobject)': '',
      '(Source)': 'isthmus',
      Message: 'other clusters were told',
      '(First Seen)': '60m',
      '(Count)': '7',
      '(Name)': 'sample',
    })
  })

  it('of bindings tells subjects apart', () => {
    const binding = {
      ...sampleOf(kindNamed('RoleBinding')),
      subjects: [
        { kind: 'User', name: 'jo' },
        { kind: 'Group', name: 'ops' },
        { kind: 'ServiceAccount', name: 'agent', namespace: 'shop' },
      ],
    }
    expect(printed('RoleBinding', binding)).toEqual({
      Name: 'sample',
      Role: 'ClusterRole/view',
      Age: '4m5s',
      '(Users)': 'jo',
      '(Groups)': 'ops',
      '(ServiceAccounts)': 'shop/agent',
    })
  })
})
