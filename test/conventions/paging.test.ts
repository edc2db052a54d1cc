import { expect } from 'vitest'
import { ExportedEndpointSliceKind } from '../../src/api/kinds/exported-endpoint-slice.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import type { Answer } from './frame/ask.ts'
import { must } from './frame/must.ts'
import { Scene } from './frame/scene.ts'
import { Place, Subject } from './frame/subject.ts'
import { aSuite, isComputed, isReadable, isStored } from './frame/suite.ts'

const suite = aSuite()

/** All further pages. */
async function follow(scene: Scene, first: Answer, limit: number): Promise<readonly Answer[]> {
  const pages = [first]
  for (let page = first; page.body.metadata.continue; pages.push(page)) {
    page = await scene.list(`limit=${limit}&continue=${page.body.metadata.continue}`)
    if (page.code !== 200) throw new Error(page.text)
  }
  return pages
}

const itemsOf = (pages: readonly Answer[]): readonly KubeObject[] => pages.flatMap(page => page.body.items)

/** Slices name those that may see them. */
function shownToAll({ spec, ...slice }: KubeObject & { readonly spec?: unknown }): KubeObject {
  return { ...slice, spec: { ...(spec as object), consumers: undefined } }
}

function placeOf({ metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function compact(): Promise<void> {
  const { store } = suite.server
  return store.compact(store.revision())
}

suite.every(isReadable, subject => {
  must(78, 'shows one snapshot on all pages, while objects come, change and go', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(5)
    const mine = await scene.items()
    const whole = await scene.list()
    const limit = Math.ceil(whole.body.items.length / 3)
    const first = await scene.list(`limit=${limit}`)
    expect(first.body.metadata.continue).toMatch(/^[-\w]+$/)
    await scene.make()
    await scene.change(mine[4] as KubeObject, { changed: 'yes' })
    await scene.remove(mine[3] as KubeObject)
    const pages = await follow(scene, first, limit)
    expect(pages.map(page => page.body.items.length <= limit)).not.toContain(false)
    expect(itemsOf(pages)).toEqual(whole.body.items)
    expect(new Set(pages.map(page => page.body.metadata.resourceVersion))).toEqual(
      new Set([whole.body.metadata.resourceVersion]),
    )
  })

  must(80, 'answers an expired token with one that goes on with the newest state', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(4)
    const first = await scene.list('limit=1')
    const [shown] = first.body.items
    const [, , third] = await scene.items()
    await scene.change(third as KubeObject, { changed: 'yes' })
    await compact()
    const expired = await scene.list(`limit=1&continue=${first.body.metadata.continue}`)
    expect(expired).toMatchObject({
      code: 410,
      body: {
        kind: 'Status',
        reason: 'Expired',
        code: 410,
        metadata: { continue: expect.stringMatching(/^[-\w]+$/) },
      },
    })
    const newest = await scene.list()
    const next = await scene.list(`limit=1&continue=${expired.body.metadata.continue}`)
    expect(next.body.metadata.resourceVersion).toBe(newest.body.metadata.resourceVersion)
    await scene.make()
    expect(itemsOf(await follow(scene, next, 1))).toEqual(
      newest.body.items.filter((item: KubeObject) => placeOf(item) !== placeOf(shown)),
    )
  })

  must(80, 'refuses tokens that make no sense', async () => {
    const scene = await Scene.of(subject)
    const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const senseless = [
      'garbage',
      token('text'),
      token({ v: 'meta.k8s.io/v0', rv: 1, start: 'a\0' }),
      token({ v: 'meta.k8s.io/v1', rv: -2, start: 'a\0' }),
      token({ v: 'meta.k8s.io/v1', rv: 1 }),
      token({ v: 'meta.k8s.io/v1', rv: 1, start: 'a\0', r: 'others.example.com' }),
    ]
    for (const one of senseless) {
      expect(await scene.list(`limit=1&continue=${one}`)).toMatchObject({
        code: 400,
        body: { reason: 'BadRequest', message: expect.stringMatching(/^invalid continue token: /) },
      })
    }
  })

  must(81, 'refuses a resourceVersion and a match beside a token', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(2)
    const { metadata } = (await scene.list('limit=1')).body
    const page = (query: string) => scene.list(`limit=1&continue=${metadata.continue}&${query}`)
    expect(await page(`resourceVersion=${metadata.resourceVersion}`)).toMatchObject({
      code: 400,
      body: { message: 'specifying resource version is not allowed when using continue' },
    })
    expect((await page('resourceVersion=0')).code).toBe(200)
    for (const match of ['Exact', 'NotOlderThan']) {
      const answer = await page(`resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=${match}`)
      expect(answer).toMatchObject({
        code: 422,
        body: { reason: 'Invalid', details: { kind: 'ListOptions' } },
      })
    }
  })
})

suite.every(isComputed, subject => {
  must(86, 'is sorted alike when it is computed from several kinds, on pages too', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(2)
    const slices = new Subject(ExportedEndpointSliceKind, subject.ask, subject.client)
    for (const namespace of ['a', 'member-1', 'member', 'z']) {
      const place = new Place(slices, await slices.namespace(namespace), 0)
      for (let made = 0; made < 3; made += 1) await place.create(shownToAll(place.sample()))
    }
    const whole: readonly string[] = (await scene.list()).body.items.map(placeOf)
    expect(whole.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))).toEqual(whole)
    expect(whole).toHaveLength(14)
    for (const limit of [1, 3, 5, 13]) {
      const pages = await follow(scene, await scene.list(`limit=${limit}`), limit)
      expect(itemsOf(pages).map(placeOf)).toEqual(whole)
    }
  })
})

suite.every(isStored, subject => {
  must(86, 'sorts bytewise as namespace and name with a slash between', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(12)
    const beside = await scene.beside('-a')
    const neighbour = await beside.make()
    const everywhere = await subject.ask(subject.collection())
    const places: readonly string[] = everywhere.body.items.map(placeOf)
    expect(places).toContain(placeOf(neighbour))
    expect(places).toEqual(places.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
    expect(everywhere.body.items.length).toBeGreaterThan(12)
  })

  must(79, 'tells what remains without selectors, and only while more is to come', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(3)
    const { length } = (await scene.list()).body.items
    const first = await scene.list('limit=1')
    expect(first.body.metadata.remainingItemCount).toBe(length - 1)
    const second = await scene.list(`limit=1&continue=${first.body.metadata.continue}`)
    expect(second.body.metadata.remainingItemCount).toBe(length - 2)
    const last = await scene.list(`continue=${second.body.metadata.continue}`)
    for (const page of [last, await scene.list(), await scene.list(`limit=${length}`)]) {
      expect(page.body.metadata).not.toHaveProperty('remainingItemCount')
      expect(page.body.metadata.continue || undefined).toBeUndefined()
    }
    for (const selector of ['labelSelector=!no.such.label', 'fieldSelector=metadata.name!%3Dnobody']) {
      const { metadata } = (await scene.list(`limit=1&${selector}`)).body
      expect(metadata.continue).toMatch(/./)
      expect(metadata).not.toHaveProperty('remainingItemCount')
    }
  })

  must(83, 'shows every write that was answered to whoever asks without a version', async () => {
    const scene = await Scene.of(subject)
    const made = await scene.make()
    const other = suite.server.client('HTTP/2')
    const seen = async (path: string) => (await other.send(path)).json
    for (let round = 0; round < 5; round += 1) {
      const changed = await scene.change(made, { round: String(round) })
      expect(await seen(scene.item(made))).toEqual(changed)
      expect(await seen(`${scene.collection}?${scene.select()}`)).toMatchObject({ items: [changed] })
    }
    await scene.remove(made)
    expect(await seen(scene.item(made))).toMatchObject({ code: 404 })
    expect(await seen(`${scene.collection}?${scene.select()}`)).toMatchObject({ items: [] })
  })
})
