// Server-side apply on every kind: again is the same as once, and whoever applies other fields may come first or last.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { appliedFaults } from '../../src/api/derive/applied-faults.ts'
import { type Applied, applyConfig } from '../../src/api/derive/apply-config.ts'
import { claimedFields } from '../../src/api/derive/field-paths.ts'
import { intersection } from '../../src/api/derive/field-set.ts'
import { shapeOf } from '../../src/api/derive/field-shape.ts'
import { type FieldManager, toEntries } from '../../src/api/derive/managed-fields.ts'
import { type AnyKind, apiVersionOf } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { objectsOf } from '../support/kind-arbitrary.ts'
import { SpaceKind, WidgetKind } from '../support/kinds.ts'

type State = { readonly object: KubeObject; readonly managers: readonly FieldManager[] }

function apply(kind: AnyKind, state: State, manager: string, applied: KubeObject): State {
  const writer = {
    name: manager,
    operation: 'Apply' as const,
    apiVersion: apiVersionOf(kind),
    subresource: '',
    time: '2026-01-02T03:04:05Z',
  }
  const { object: live, managers } = state
  const outcome = applyConfig({ kind, live, managers, applied, writer, force: true })
  expect(outcome.type).toBe('applied')
  // The line above has just shown it.
  return outcome as Applied
}

function emptyOf({ apiVersion, kind, metadata }: KubeObject): State {
  return { object: { apiVersion, kind, metadata: { name: metadata.name } }, managers: [] }
}

const seen = ({ object, managers }: State) => ({ object, managers: toEntries(managers) })

/** Applying nothing but empty lists owns nothing; the next apply then gives them to before-first-apply, as kube-apiserver does. */
const ownedByNobody = ({ managers }: State): boolean => managers.length === 0

/** The parts of an object that two may apply without touching each other's. */
function halves(object: KubeObject): readonly [KubeObject, KubeObject] {
  const half = (rest: number): KubeObject => {
    const fields = Object.entries(object)
      .map(([name, value]) => [name, halfOf(name, value, rest)] as const)
      .filter(([, value]) => value !== undefined)
    const { apiVersion, kind, metadata } = object
    return { ...Object.fromEntries(fields), apiVersion, kind, metadata: { name: metadata.name } }
  }
  return [half(0), half(1)]
}

function halfOf(name: string, value: unknown, rest: number): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return name.length % 2 === rest ? value : undefined
  }
  const some = Object.entries(value).filter(([key]) => key.length % 2 === rest)
  return some.length === 0 ? undefined : Object.fromEntries(some)
}

const stored = [...kinds, WidgetKind, SpaceKind].filter(kind => kind.storage === 'stored')

describe.each(stored.map(kind => [kind.kind, kind] as const))('%s', (_, kind) => {
  const shape = shapeOf(kind)
  const objects = objectsOf(kind).filter(object => appliedFaults(shape, object).length === 0)

  it('applied twice is as it is when it is applied once', () => {
    fc.assert(
      fc.property(objects, objects, objects, (other, before, now) => {
        const start = apply(kind, apply(kind, emptyOf(other), 'bob', other), 'ann', before)
        const once = apply(kind, start, 'ann', now)
        if (ownedByNobody(once)) return
        expect(seen(apply(kind, once, 'ann', now))).toEqual(seen(once))
      }),
      { numRuns: 30 },
    )
  })

  it('applied by two in halves is the same whoever comes first', () => {
    fc.assert(
      fc.property(objects, object => {
        const [ann, bob] = halves(object)
        const [anns, bobs] = [claimedFields(shape, ann), claimedFields(shape, bob)]
        // What is owned as a whole has no halves, and who applies nothing owns nothing.
        if (anns === undefined || bobs === undefined || intersection(anns, bobs) !== undefined) return
        const annFirst = apply(kind, apply(kind, emptyOf(object), 'ann', ann), 'bob', bob)
        const bobFirst = apply(kind, apply(kind, emptyOf(object), 'bob', bob), 'ann', ann)
        expect(seen(annFirst)).toEqual(seen(bobFirst))
      }),
      { numRuns: 30 },
    )
  })
})

it('gives what nobody owns to before-first-apply, empty lists too', () => {
  const sample = { apiVersion: 'v1', kind: 'Space', metadata: { name: 'sample' } }
  const once = apply(SpaceKind, emptyOf(sample), 'ann', { ...sample, spec: { words: [] } } as KubeObject)
  expect(seen(once).managers).toEqual([])
  const again = apply(SpaceKind, once, 'ann', sample)
  expect(seen(again)).toEqual({
    object: { ...sample, spec: { words: [] } },
    managers: [
      {
        manager: 'before-first-apply',
        operation: 'Update',
        apiVersion: 'v1',
        time: '2026-01-02T03:04:05Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:spec': { 'f:words': {} } },
      },
    ],
  })
})
