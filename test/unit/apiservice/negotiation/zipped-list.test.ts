import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Reply, ServedKind } from '../../../../apiservice/contract.ts'
import { recovery } from '../../../../apiservice/http/recover.ts'
import { render } from '../../../../apiservice/negotiation/stage.ts'
import type { StoredObject } from '../../../../apiservice/store-contract.ts'
import { encodeBody } from '../../../../src/codec/object-bytes.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { anApiRequest } from '../../../support/api-request.ts'
import { type ManualClock, manualClock } from '../../../support/manual-clock.ts'
import { WidgetKind } from '../../../support/widget.ts'

const startMs = Date.parse('2026-01-02T03:04:05Z')
const aged: ServedKind = { kind: { ...WidgetKind, columns: [] }, version: 'v1' }
const forms = [
  undefined,
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
]

let revisions = 0

function made(name: string, createdMs = startMs, text = 'ä'.repeat(400)): StoredObject {
  const creationTimestamp = new Date(createdMs).toISOString()
  const metadata = {
    name,
    namespace: 'shop',
    uid: 'u',
    creationTimestamp,
    annotations: { x: text },
  }
  const body = encodeBody({ apiVersion: 'example.com/v1', kind: 'Widget', metadata })
  return { revision: ++revisions, resource: 'widgets.example.com', namespace: 'shop', name, body }
}

function answered(items: readonly StoredObject[], accept: string | undefined, clock: ManualClock) {
  const reply: Reply = { type: 'list', served: aged, items, revision: 9 }
  const request = anApiRequest({ headers: accept === undefined ? {} : { accept } })
  return render(clock, recovery(memoryLogger()))(() => Promise.resolve(reply))(request, never)
}

/** Short lists are made at once, of nothing that was made before. */
async function inShortLists(items: readonly StoredObject[], accept: string | undefined, clock: ManualClock) {
  const all: unknown[] = []
  for (let at = 0; at < items.length; at += 20) {
    const answer = await answered(items.slice(at, at + 20), accept, clock)
    if (answer.type !== 'bytes') throw new Error(`made as ${answer.type}`)
    all.push(...partsOf(answer.body.toString()))
  }
  return all
}

function partsOf(text: string): readonly unknown[] {
  const { items, rows } = JSON.parse(text)
  return items ?? rows
}

async function encoded(items: readonly StoredObject[], accept: string | undefined, clock: ManualClock) {
  const answer = await answered(items, accept, clock)
  if (answer.type !== 'slices' || answer.zipped === undefined) throw new Error(`made as ${answer.type}`)
  const { slices, zipped } = answer
  return { plain: () => Buffer.concat(Array.from(slices, slice => Buffer.from(slice))), zipped }
}

async function zippedText(items: readonly StoredObject[], accept?: string, clock = manualClock(startMs)) {
  const { zipped } = await encoded(items, accept, clock)
  return gunzipSync(Buffer.concat(zipped().toArray())).toString()
}

async function expectSame(items: readonly StoredObject[], accept?: string, clock = manualClock(startMs)) {
  const { plain } = await encoded(items, accept, clock)
  const text = plain().toString()
  expect(partsOf(text)).toEqual(await inShortLists(items, accept, clock))
  expect(await zippedText(items, accept, clock)).toBe(text)
}

const change = fc.record({
  what: fc.constantFrom('added', 'replaced', 'removed'),
  at: fc.nat({ max: 250 }),
})
const changed = {
  added: (items: StoredObject[], at: number) => items.splice(at, 0, made(`v-${at}`)),
  replaced: (items: StoredObject[], at: number) => items.splice(at, 1, made(items[at]?.name ?? '')),
  removed: (items: StoredObject[], at: number) => items.splice(at, 1),
}

describe('a long list as gzip', () => {
  it.each(forms)(
    'is the list as it is, whatever changed since it was last asked for, as %s',
    async accept => {
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 6 }), async changes => {
          const items = Array.from({ length: 300 }, (_, i) => made(`w-${i}`))
          await expectSame([...items], accept)
          for (const { what, at } of changes) {
            changed[what](items, at)
            const list = [...items]
            await expectSame(list, accept)
            await expectSame(list, accept)
            await expectSame(items.slice(at % 50, 250), accept)
          }
        }),
        { numRuns: 8 },
      )
    },
  )

  it('shows ages as they are when it is asked for', async () => {
    const items = Array.from({ length: 400 }, (_, i) => made(`w-${i}`, startMs - i * 40_000))
    const clock = manualClock(startMs)
    for (const ms of [0, 999, 1, 59_000, 3_600_000, 86_400_000]) {
      await clock.advance(ms)
      await expectSame(items, forms[2], clock)
    }
  })

  it('is made of what was compressed before, but for runs in which something is new', async () => {
    const items = Array.from({ length: 1_000 }, (_, i) => made(`w-${i}`))
    const before = await zippedText(items)
    // Nobody changes stored bytes: here they show what is read again.
    for (const { body } of items) body.write('tampered', body.indexOf('"uid":"u"'), 'latin1')
    expect(await zippedText(items)).toBe(before)
    const after = await zippedText(items.with(500, made('w-500')))
    const tampered = after.split('tampered').length - 1
    expect(tampered).toBeGreaterThan(0)
    expect(tampered).toBeLessThan(500)
  })

  it('is made of the runs of its pages', async () => {
    const items = Array.from({ length: 1_000 }, (_, i) => made(`w-${i}`))
    for (const from of [0, 500]) await zippedText(items.slice(from, from + 500))
    for (const { body } of items) body.write('tampered', body.indexOf('"uid":"u"'), 'latin1')
    expect(await zippedText(items)).not.toContain('tampered')
  })

  it('is as short when it has grown one by one', async () => {
    const items = Array.from({ length: 250 }, (_, i) => made(`w-${i}`))
    for (let length = 200; length < items.length; length++) await zippedText(items.slice(0, length))
    const sizes = [items, items.map(item => ({ ...item }))].map(async list => {
      const { zipped } = await encoded(list, undefined, manualClock(startMs))
      return Buffer.concat(zipped().toArray()).length
    })
    const [grown = 0, fresh = 0] = await Promise.all(sizes)
    expect(grown / fresh).toBeLessThan(1.2)
  })

  it('comes in slices, of which none is long to make', async () => {
    const items = Array.from({ length: 5_000 }, (_, i) => made(`w-${i}`))
    const { zipped } = await encoded(items, undefined, manualClock(startMs))
    // Of 5 MB, a quarter of one at a time.
    expect(zipped().toArray().length).toBeGreaterThan(12)
  })

  it('is compressed anew when much else was asked for since, unless it was itself', async () => {
    const lists = ['used', 'unused'].map(name => Array.from({ length: 200 }, (_, i) => made(`${name}-${i}`)))
    const [used = [], unused = []] = lists
    for (const list of lists) await zippedText(list)
    for (const { body } of lists.flat()) body.write('tampered', body.indexOf('"uid":"u"'), 'latin1')
    // More than is kept in all, in parts of less than half of it.
    for (let turn = 0; turn < 8; turn++) {
      const others = Array.from({ length: 20 }, (_, i) => made(`o-${turn}-${i}`, startMs, noise()))
      await zippedText(others)
      expect(await zippedText(used)).not.toContain('tampered')
    }
    expect(await zippedText(unused)).toContain('tampered')
  })

  it('is not looked at again, object by object, when the very list is asked for again', async () => {
    const items = Array.from({ length: 1_000 }, (_, i) => made(`w-${i}`))
    const before = await zippedText(items)
    let looks = 0
    for (const item of items) {
      const { revision } = item
      const get = (): number => {
        looks++
        return revision
      }
      Object.defineProperty(item, 'revision', { get })
    }
    expect(await zippedText(items)).toBe(before)
    expect(looks).toBe(0)
    expect(await zippedText([...items])).toBe(before)
    expect(looks).toBeGreaterThan(0)
  })
})

/** Text that does not get much shorter. */
function noise(): string {
  return randomBytes(150_000).toString('base64')
}
