import { expect, it } from 'vitest'
import { type GzipPart, gzipPart } from '../../../../apiservice/negotiation/gzip.ts'
import { KeptRuns, type Run } from '../../../../apiservice/negotiation/kept-runs.ts'
import { aWidget } from '../../../support/widget.ts'

const run: Run<GzipPart> = { keys: [], part: gzipPart(Buffer.from('x')), fromMs: 0, untilMs: 1 }

it('keeps runs by shape and first object', () => {
  const kept = new KeptRuns(100_000)
  const [one, other] = [aWidget('a'), aWidget('a')]
  kept.keep('whole', one, run)
  expect([kept.get('whole', one), kept.get('Table', one), kept.get('whole', other)]).toEqual([
    run,
    undefined,
    undefined,
  ])
})

it('keeps what was used last, over all shapes no more than it may', () => {
  const kept = new KeptRuns(100_000)
  const objects = Array.from({ length: 1_000 }, (_, i) => aWidget(`w-${i}`))
  const [first] = objects
  const shapeAt = (at: number) => `shape ${at % 3}`
  for (const [at, object] of objects.entries()) {
    kept.keep(shapeAt(at), object, run)
    if (first !== undefined) expect(kept.get(shapeAt(0), first)).toBe(run)
  }
  const there = objects
    .map((object, at) => kept.get(shapeAt(at), object))
    .filter(found => found !== undefined)
  expect(there.length).toBeGreaterThan(50)
  expect(there.length).toBeLessThan(200)
})
