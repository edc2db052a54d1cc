import { describe, expect, it } from 'vitest'
import type { WatchEvent } from '../../../../apiservice/contract.ts'
import { choicesOf } from '../../../../apiservice/negotiation/accept.ts'
import { frameEncoder } from '../../../../apiservice/negotiation/frames.ts'
import { expired } from '../../../../src/kernel/errors.ts'
import { aWidget, widgetJson, widgetMetadata, widgets } from '../../../support/widget.ts'

function encoder(accept = 'application/json') {
  const [choice] = choicesOf(accept)
  if (choice === undefined) throw new Error(`not accepted: ${accept}`)
  const encode = frameEncoder(widgets, choice, { includeObject: 'Metadata', now: () => 0 })
  return (...events: readonly WatchEvent[]) => encode(events)
}
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'
const bookmark: WatchEvent = { type: 'BOOKMARK', revision: 9, initialEventsEnd: false }
const initialEnd: WatchEvent = { type: 'BOOKMARK', revision: 9, initialEventsEnd: true }
const tooOld: WatchEvent = { type: 'ERROR', status: expired('too old resource version: 1 (5)').toStatus() }

const parsed = (frame: Buffer) => {
  expect(frame.toString().indexOf('\n')).toBe(frame.length - 1)
  return JSON.parse(frame.toString())
}

describe('a plain stream', () => {
  it.each(['ADDED', 'MODIFIED', 'DELETED'] as const)('%s carries the object on one line', type => {
    const frame = encoder()({ type, object: aWidget('a', { size: 3, note: 'two\nlines' }) })
    expect(parsed(frame)).toMatchObject({
      type,
      object: { ...widgetJson('a', { size: 3 }), metadata: { name: 'a' } },
    })
  })

  it('a version of an object is encoded once for all watchers', () => {
    const object = aWidget('a')
    const [one, other] = [encoder(), encoder()]
    const frame = one({ type: 'ADDED', object })
    expect(other({ type: 'ADDED', object })).toBe(frame)
    expect(other({ type: 'MODIFIED', object })).not.toBe(frame)
    expect(encoder(partial)({ type: 'ADDED', object })).not.toBe(frame)
  })

  it('a batch that several watchers are given is encoded once', () => {
    const batch: readonly WatchEvent[] = [
      { type: 'ADDED', object: aWidget('a') },
      { type: 'MODIFIED', object: aWidget('b') },
    ]
    const [choice] = choicesOf('application/json')
    if (choice === undefined) throw new Error('JSON is not accepted')
    const [one, other] = [1, 2].map(() =>
      frameEncoder(widgets, choice, { includeObject: 'None', now: () => 0 }),
    )
    const bytes = one?.(batch)
    expect(other?.(batch)).toBe(bytes)
    expect(
      bytes
        ?.toString()
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).type),
    ).toEqual(['ADDED', 'MODIFIED'])
  })

  it('what was encoded long ago is forgotten, so that the state of a large store is not kept', () => {
    const encode = encoder()
    const first = aWidget('first')
    const frame = encode({ type: 'ADDED', object: first })
    for (let i = 0; i < 40; i++)
      encode({ type: 'ADDED', object: aWidget(`${i}`, { note: 'x'.repeat(500_000) }) })
    const again = encode({ type: 'ADDED', object: first })
    expect(again).not.toBe(frame)
    expect(again.equals(frame)).toBe(true)
  })

  it('a bookmark says how far the stream has come, and the end of the initial events', () => {
    const names = { kind: 'Widget', apiVersion: 'example.com/v1' }
    expect(parsed(encoder()(bookmark))).toEqual({
      type: 'BOOKMARK',
      object: { ...names, metadata: { resourceVersion: '9' } },
    })
    expect(parsed(encoder()(initialEnd))).toEqual({
      type: 'BOOKMARK',
      object: {
        ...names,
        metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
      },
    })
  })
})

it.each([undefined, table, partial])('an ERROR is a plain Status with Accept %s', accept => {
  expect(parsed(encoder(accept)(tooOld))).toEqual({
    type: 'ERROR',
    object: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'too old resource version: 1 (5)',
      reason: 'Expired',
      code: 410,
    },
  })
})

it('a stream of metadata carries metadata only, also in bookmarks', () => {
  const encode = encoder(partial)
  expect(parsed(encode({ type: 'ADDED', object: aWidget('a', { size: 3 }) }))).toEqual({
    type: 'ADDED',
    object: widgetMetadata('a'),
  })
  expect(parsed(encode(initialEnd))).toEqual({
    type: 'BOOKMARK',
    object: {
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
    },
  })
})

describe('a stream of Tables', () => {
  it('names the columns in its first frame only, and has one row in each', () => {
    const encode = encoder(table)
    const first = parsed(encode({ type: 'ADDED', object: aWidget('a', { size: 3 }) }))
    expect(first).toMatchObject({
      type: 'ADDED',
      object: {
        kind: 'Table',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { resourceVersion: '7' },
        columnDefinitions: [{ name: 'Name' }, { name: 'Size' }],
        rows: [{ cells: ['a', 3], object: widgetMetadata('a') }],
      },
    })
    const second = parsed(encode({ type: 'DELETED', object: aWidget('a', { revision: 8 }) }))
    expect(second.object).toMatchObject({ columnDefinitions: [], metadata: { resourceVersion: '8' } })
  })

  it('a bookmark is a row that says nothing but how far the stream has come', () => {
    const encode = encoder(table)
    encode({ type: 'ADDED', object: aWidget('a') })
    expect(parsed(encode(initialEnd)).object).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      columnDefinitions: [],
      rows: [
        {
          cells: ['', null],
          object: {
            kind: 'PartialObjectMetadata',
            apiVersion: 'meta.k8s.io/v1',
            metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': 'true' } },
          },
        },
      ],
    })
  })
})
