import { expect } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import { manualClock } from '../support/manual-clock.ts'
import { answeredAfter } from './frame/later.ts'
import { must } from './frame/must.ts'
import { Scene } from './frame/scene.ts'
import { aSuite, isReadable } from './frame/suite.ts'

const clock = manualClock()
const suite = aSuite({ clock })

/** How long a read waits for a version that is not there yet. */
const patienceMs = 3_000

const tooLarge = {
  code: 504,
  headers: { 'retry-after': '1' },
  body: {
    kind: 'Status',
    reason: 'Timeout',
    details: { retryAfterSeconds: 1, causes: [{ reason: 'ResourceVersionTooLarge' }] },
  },
}
const refused = { code: 422, body: { reason: 'Invalid', details: { kind: 'ListOptions' } } }
const unreadable = {
  code: 400,
  body: { reason: 'BadRequest', message: expect.stringMatching(/^invalid resource version: /) },
}

/** An object in three states, the version of each, and one that came last. */
async function history(scene: Scene) {
  const made = await scene.make()
  const old = await scene.revision()
  await scene.change(made, { state: 'second' })
  const middle = await scene.revision()
  const states = (await scene.list(scene.select())).body.items
  const second = await scene.make()
  const newest = await scene.revision()
  return { made, old, middle, states, second, newest }
}

suite.every(isReadable, subject => {
  must(82, 'lists the newest state, one that is not older, or an exact one, as it is asked', async () => {
    const scene = await Scene.of(subject)
    const { made, old, states, middle, newest } = await history(scene)
    const list = async (query: string) => {
      const answer = await scene.list(`${scene.select()}&${query}`)
      if (answer.code !== 200) throw new Error(`${query}: ${answer.text}`)
      const { items, metadata } = answer.body
      return { revision: metadata.resourceVersion, items }
    }
    const items = await scene.items()
    const now = { revision: newest, items }
    const first = { revision: old, items: [made] }
    const page = { revision: newest, items: items.slice(0, 1) }
    expect(await list('')).toEqual(now)
    expect(await list('resourceVersion=')).toEqual(now)
    expect(await list('resourceVersion=0')).toEqual(now)
    expect(await list(`resourceVersion=${old}`)).toEqual(now)
    expect(await list('resourceVersion=0&resourceVersionMatch=NotOlderThan')).toEqual(now)
    expect(await list(`resourceVersion=${old}&resourceVersionMatch=NotOlderThan`)).toEqual(now)
    expect(await list(`resourceVersion=${old}&resourceVersionMatch=Exact`)).toEqual(first)
    expect(await list(`resourceVersion=${middle}&resourceVersionMatch=Exact`)).toEqual({
      revision: middle,
      items: states,
    })
    expect(await list(`resourceVersion=${newest}&resourceVersionMatch=Exact`)).toEqual(now)
    expect(await list('limit=1')).toEqual(page)
    expect(await list('limit=1&resourceVersion=0')).toEqual(page)
    expect(await list(`limit=1&resourceVersion=${old}`)).toEqual(first)
    expect(await list(`limit=1&resourceVersion=${old}&resourceVersionMatch=Exact`)).toEqual(first)
    expect(await list(`limit=1&resourceVersion=${old}&resourceVersionMatch=NotOlderThan`)).toEqual(page)
  })

  must(82, 'refuses versions and matches that have no meaning', async () => {
    const scene = await Scene.of(subject)
    const { old } = await history(scene)
    for (const query of [
      'resourceVersionMatch=Exact',
      'resourceVersionMatch=NotOlderThan',
      'resourceVersion=0&resourceVersionMatch=Exact',
      `resourceVersion=${old}&resourceVersionMatch=Newest`,
      `resourceVersion=${old}&sendInitialEvents=true`,
    ]) {
      expect(await scene.list(query), query).toMatchObject(refused)
    }
    for (const version of ['x', '-1', '1.5', '18446744073709551616']) {
      expect(await scene.list(`resourceVersion=${version}`), version).toMatchObject(unreadable)
    }
  })

  must(82, 'waits for versions of the future, and answers 504 when they do not come', async () => {
    const scene = await Scene.of(subject)
    const { made, newest } = await history(scene)
    const soon = String(Number(newest) + 1)
    for (const query of [
      '',
      '&resourceVersionMatch=NotOlderThan',
      '&resourceVersionMatch=Exact',
      '&limit=1',
    ]) {
      const ask = () => scene.list(`resourceVersion=${soon}${query}`)
      expect(await answeredAfter(clock, patienceMs, ask), query).toMatchObject(tooLarge)
    }
    const far = '9007199254740993'
    const beyondDoubles = () => scene.list(`resourceVersion=${far}`)
    expect((await answeredAfter(clock, patienceMs, beyondDoubles)).body.message).toContain(`version: ${far},`)
    const get = () => subject.ask(`${scene.item(made)}?resourceVersion=${soon}`)
    expect(await answeredAfter(clock, patienceMs, get)).toMatchObject(tooLarge)
    const writtenMeanwhile = async () => {
      const answer = get()
      await scene.change(made, { state: 'third' })
      return answer
    }
    expect((await answeredAfter(clock, patienceMs, writtenMeanwhile)).code).toBe(200)
  })

  must(82, 'gets the newest state for every version that is not of the future', async () => {
    const scene = await Scene.of(subject)
    const { made, old } = await history(scene)
    const shown = await scene.shown(made)
    for (const version of ['', '0', '1', old]) {
      const answer = await subject.ask(`${scene.item(made)}?resourceVersion=${version}`)
      expect(answer).toMatchObject({ code: 200, body: shown })
    }
    expect(await subject.ask(`${scene.item(made)}?resourceVersion=x`)).toMatchObject(unreadable)
  })

  must(
    82,
    'answers 410 to exact versions that are no longer kept, and what is not older to the others',
    async () => {
      const scene = await Scene.of(subject)
      const { old } = await history(scene)
      const { store } = suite.server
      await store.compact(store.revision())
      for (const query of ['resourceVersionMatch=Exact', 'limit=1']) {
        expect(await scene.list(`resourceVersion=${old}&${query}`)).toMatchObject({
          code: 410,
          body: { reason: 'Expired', message: 'The resourceVersion for the provided list is too old.' },
        })
      }
      const names = (items: readonly KubeObject[]) => items.map(({ metadata }) => metadata.name)
      const { body } = await scene.list(`${scene.select()}&resourceVersion=${old}`)
      expect(names(body.items)).toEqual(names(await scene.items()))
    },
  )
})
