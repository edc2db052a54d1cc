// docs/conditions.md, held to what kinds declare and to what the flow says.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { problemOccurrence } from '../../dns/warnings.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import { MemberClusterKind, memberClusterConditions } from '../../src/api/kinds/member-cluster.ts'
import { ServiceExportKind } from '../../src/api/kinds/service-export.ts'
import { ServiceImportKind } from '../../src/api/kinds/service-import.ts'
import type { Condition } from '../../src/api/meta.ts'
import type { JsonSchema } from '../../src/api/schema.ts'
import { occurrencesOf } from '../../src/export/events.ts'
import { plain, sectionText, tableRows } from '../support/markdown.ts'

const page = 'docs/conditions.md'
const declaring = kinds.filter(kind => Object.keys(kind.conditions).length > 0)

type Declared = (typeof kinds)[number]['conditions']

/** `Valid True Valid`: condition, status and reason. */
function statements(conditions: Declared): ReadonlySet<string> {
  return new Set(
    Object.entries(conditions).flatMap(([type, statuses]) =>
      Object.entries(statuses).flatMap(([status, reasons]) =>
        reasons.map(reason => `${type} ${status} ${reason}`),
      ),
    ),
  )
}

function sources(root = 'src'): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => join(root, file))
}

describe('the documented conditions', () => {
  it.each(declaring.map(kind => [kind.kind, kind.conditions] as const))(
    'of %s are those that it declares',
    (kind, conditions) => {
      const rows = tableRows(sectionText(page, kind))
      const told = rows.flatMap(([type = '', status = '', reasons = '']) =>
        reasons.split(', ').map(reason => `${plain(type)} ${status} ${plain(reason)}`),
      )
      expect(told).toHaveLength(new Set(told).size)
      expect(new Set(told)).toEqual(statements(conditions))
      for (const row of rows) expect(row.filter(cell => cell !== '')).toHaveLength(5)
    },
  )

  it('are of every kind that has any in its schema', () => {
    const withConditions = kinds.filter(({ schema }) => schema.properties?.status?.properties?.conditions)
    // A Service's are for others to write.
    expect(withConditions.map(({ kind }) => kind).filter(kind => kind !== 'Service')).toEqual(
      declaring.map(({ kind }) => kind),
    )
  })

  it('have no reason that nobody writes', () => {
    const written = sources()
      .filter(file => !file.startsWith('src/api/'))
      .map(file => readFileSync(file, 'utf8'))
      .join('\n')
    // Those of a namespace are taken from the declaration.
    const said = declaring.filter(({ kind }) => kind !== 'Namespace').flatMap(({ conditions }) => conditions)
    const reasons = said
      .flatMap(conditions => Object.values(conditions))
      .flatMap(s => Object.values(s).flat())
    expect(reasons.filter(reason => !written.includes(`'${reason}'`))).toEqual([])
  })

  it('and the problems of a ClusterSetService are those of its schema', () => {
    const found = kinds.find(({ kind }) => kind === 'ClusterSetService')?.schema.properties?.status
    const reasons: JsonSchema | undefined = found?.properties?.problem?.properties?.reason
    const told = tableRows(sectionText(page, 'Problems of ClusterSetServices')).map(([reason = '']) =>
      plain(reason),
    )
    expect(told).toEqual(reasons?.enum)
  })
})

describe('the documented Events', () => {
  const told = tableRows(sectionText(page, 'Events')).map(([object = '', reason = '', type = '']) => ({
    object,
    text: `${plain(reason)} ${type}`,
  }))
  const toldOf = (kind: string): readonly string[] =>
    told.filter(({ object }) => object === kind).map(({ text }) => text)

  it('of a ServiceExport are those of every change of its conditions', () => {
    const states = statesOf(ServiceExportKind.conditions)
    const seen = states.flatMap(after => [
      ...occurrencesOf([], [after]),
      ...states.flatMap(before => (before.type === after.type ? occurrencesOf([before], [after]) : [])),
    ])
    expect(new Set(toldOf(ServiceExportKind.kind))).toEqual(
      new Set(seen.map(({ reason, type }) => `${reason} ${type}`)),
    )
  })

  it('of a MemberCluster are those of its conditions', () => {
    const { Unknown, ...others } = memberClusterConditions.Available
    const { False: overlapping, True: apart } = memberClusterConditions.AddressesApart
    expect(new Set(toldOf(MemberClusterKind.kind))).toEqual(
      new Set([
        ...Unknown.map(reason => `${reason} Warning`),
        ...Object.values(others).flatMap(reasons => reasons.map(reason => `${reason} Normal`)),
        ...overlapping.map(reason => `${reason} Warning`),
        ...apart.map(reason => `${reason} Normal`),
      ]),
    )
  })

  it('of a ServiceImport are those of its parts without records', () => {
    const { reason, type } = problemOccurrence({ reason: 'address', subject: 'x' })
    expect(toldOf(ServiceImportKind.kind)).toEqual([`${reason} ${type}`])
  })

  it('are of all who record any', () => {
    const recording = [...sources(), ...sources('dns')].filter(file =>
      /new EventRecorder\(/.test(readFileSync(file, 'utf8')),
    )
    expect(recording.sort(byText)).toEqual(['dns/warnings.ts', 'src/export-flow.ts', 'src/hub-flow.ts'])
    expect([...new Set(told.map(({ object }) => object))]).toEqual([
      ServiceExportKind.kind,
      MemberClusterKind.kind,
      ServiceImportKind.kind,
    ])
  })
})

/** Each state of each condition, without and with something to say. */
function statesOf(conditions: Declared): readonly Condition[] {
  const lastTransitionTime = '2026-01-01T00:00:00Z'
  return [...statements(conditions)].flatMap(statement => {
    const [type = '', status = '', reason = ''] = statement.split(' ')
    // Statuses of a declaration are those of a condition.
    const said = { type, status: status as Condition['status'], reason, lastTransitionTime }
    return [
      { ...said, message: '' },
      { ...said, message: 'something' },
    ]
  })
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1
}
