import { expect } from 'vitest'
import { systemClock } from '../../src/kernel/clock.ts'
import { must } from './frame/must.ts'
import { aSuite, isStored } from './frame/suite.ts'

const madeMs = Date.parse('2026-01-02T03:04:05Z')
let nowMs = madeMs
const suite = aSuite({ clock: { ...systemClock, now: () => nowMs } })

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** As apimachinery prints durations. */
const ages: readonly (readonly [number, string])[] = [
  [0, '0s'],
  [119 * second, '119s'],
  [2 * minute, '2m'],
  [9 * minute + 59 * second, '9m59s'],
  [10 * minute + 30 * second, '10m'],
  [179 * minute, '179m'],
  [3 * hour, '3h'],
  [7 * hour + 59 * minute, '7h59m'],
  [8 * hour + 30 * minute, '8h'],
  [47 * hour, '47h'],
  [50 * hour, '2d2h'],
  [8 * day + hour, '8d'],
  [729 * day, '729d'],
  [800 * day, '2y70d'],
  [8 * 365 * day, '8y'],
]

suite.every(
  kind => isStored(kind) && (kind.columns.length === 0 || kind.columns.some(({ name }) => name === 'Age')),
  subject => {
    must(18, 'has an age that is printed as kubectl prints durations', async () => {
      const place = await subject.place()
      nowMs = madeMs
      const object = await place.make()
      for (const [ageMs, text] of ages) {
        nowMs = madeMs + ageMs
        const { body } = await suite.ask(place.item(object), {
          accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
        })
        const at = body.columnDefinitions.findIndex(({ name }: { name: string }) => name === 'Age')
        expect(body.rows[0].cells[at]).toBe(text)
      }
    })
  },
)
