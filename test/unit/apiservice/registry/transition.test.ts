import { describe, expect, it } from 'vitest'
import { transitions } from '../../../../apiservice/registry/transition.ts'
import type { StoredObject, StoreEvent } from '../../../../apiservice/store-contract.ts'

function anObject(revision: number, shown: boolean): StoredObject {
  return { revision, resource: 'things', namespace: '', name: 'a', body: Buffer.from(shown ? 'yes' : 'no') }
}

const show = (object: StoredObject): StoredObject | undefined =>
  object.body.toString() === 'yes' ? object : undefined

describe('transitions', () => {
  it.each([
    ['PUT', undefined, true, 'ADDED'],
    ['PUT', undefined, false, undefined],
    ['PUT', false, true, 'ADDED'],
    ['PUT', true, true, 'MODIFIED'],
    ['PUT', true, false, 'DELETED'],
    ['PUT', false, false, undefined],
    ['DELETE', true, true, 'DELETED'],
    ['DELETE', true, false, 'DELETED'],
    ['DELETE', false, false, undefined],
    ['DELETE', false, true, undefined],
  ] as const)('%s, before %s, after %s: %s', (type, before, after, expected) => {
    const previous = before === undefined ? undefined : anObject(1, before)
    const [event] = transitions([{ type, object: anObject(2, after), previous }], show)
    expect(event?.type).toBe(expected)
    const wasShown = { object: { revision: 2, body: Buffer.from('yes') } }
    if (expected !== undefined) expect(event).toMatchObject(wasShown)
  })

  it('tells creation, change and deletion apart when everything is shown', () => {
    const object = anObject(2, true)
    const batch: StoreEvent[] = [
      { type: 'PUT', object, previous: undefined },
      { type: 'PUT', object, previous: anObject(1, true) },
      { type: 'DELETE', object, previous: anObject(1, true) },
    ]
    expect(transitions(batch, undefined)).toEqual([
      { type: 'ADDED', object },
      { type: 'MODIFIED', object },
      { type: 'DELETED', object },
    ])
  })

  it('makes the events of a batch once for all who see everything', () => {
    const batch: StoreEvent[] = [{ type: 'PUT', object: anObject(2, true), previous: undefined }]
    expect(transitions(batch, undefined)).toBe(transitions(batch, undefined))
  })

  it('makes what left a selection once for all who saw it', () => {
    const batch: StoreEvent[] = [{ type: 'PUT', object: anObject(2, false), previous: anObject(1, true) }]
    const [first, second] = [transitions(batch, show)[0], transitions(batch, show)[0]]
    expect(first).toMatchObject({ type: 'DELETED' })
    expect(first && 'object' in first && first.object).toBe(second && 'object' in second && second.object)
  })
})
