import { describe, expect, it } from 'vitest'
import type { Answer, RegistryUnderTest } from '../../../support/registry.ts'
import {
  allWidgets,
  aSpace,
  aWidget,
  aWidgetRegistry,
  makeWidget,
  mergePatchType,
  spaces,
  widgets,
} from '../../../support/widgets.ts'

async function seeded(): Promise<RegistryUnderTest> {
  const registry = await aWidgetRegistry()
  await makeWidget(registry, 'a', { metadata: { labels: { app: 'web', tier: 'x' } }, spec: { color: 'red' } })
  await makeWidget(registry, 'b', { metadata: { labels: { app: 'db' } }, spec: { color: 'blue' } })
  await makeWidget(registry, 'c', { metadata: { labels: { app: 'web' } }, spec: { color: 'blue' } })
  await makeWidget(registry, 'd')
  await makeWidget(registry, 'e', { metadata: { labels: { app: 'cache', n: '5' } } })
  return registry
}

const names = ({ body }: Answer): string =>
  body.items?.map((item: { metadata: { name: string } }) => item.metadata.name).join('') ?? body.message

const get = (registry: RegistryUnderTest, query: string, path = widgets) =>
  registry.send('GET', `${path}?${query}`)

describe('list', () => {
  it('has all objects in order of their keys, and the revision of the whole', async () => {
    const registry = await seeded()
    const { code, body } = await get(registry, '')
    expect([code, body.kind, body.apiVersion]).toEqual([200, 'WidgetList', 'test.example.com/v2'])
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual([...'abcde'])
    expect(body.metadata).toEqual({ resourceVersion: body.items[4].metadata.resourceVersion })
  })

  it('moves its revision forward with deletions, and has one when it is empty', async () => {
    const registry = await aWidgetRegistry()
    const empty = await get(registry, '')
    expect(empty.body).toMatchObject({ items: [], metadata: { resourceVersion: '1' } })
    await makeWidget(registry, 'a')
    await registry.send('DELETE', `${widgets}/a`)
    expect((await get(registry, '')).body).toMatchObject({ items: [], metadata: { resourceVersion: '3' } })
  })

  it('has what is in a namespace, or in all of them', async () => {
    const registry = await seeded()
    const other = widgets.replace('shop', 'another')
    await registry.send('POST', other, { body: aWidget('z') })
    expect(names(await get(registry, '', other))).toBe('z')
    expect(names(await get(registry, '', allWidgets))).toBe('zabcde')
    expect(names(await get(registry, 'fieldSelector=metadata.namespace%3Dshop', allWidgets))).toBe('abcde')
    expect(names(await get(registry, 'fieldSelector=metadata.namespace!%3Dshop', allWidgets))).toBe('z')
    expect(names(await get(registry, 'fieldSelector=metadata.namespace%3Danother'))).toBe('')
  })

  it.each([
    ['labelSelector=app%3Dweb', 'ac'],
    ['labelSelector=app%21%3Dweb', 'bde'],
    ['labelSelector=app+in+%28web%2Cdb%29%2Ctier', 'a'],
    ['labelSelector=n%3E4', 'e'],
    ['fieldSelector=metadata.name%3Da', 'a'],
    ['fieldSelector=metadata.name%21%3Da', 'bcde'],
    ['fieldSelector=spec.color%3Dblue', 'bc'],
    ['fieldSelector=spec.color%3D', 'de'],
    ['fieldSelector=spec.color%3Dblue&labelSelector=app%3Dweb', 'c'],
    ['labelSelector=nope', ''],
  ])('%s selects %j', async (query, expected) => {
    expect(names(await get(await seeded(), query))).toBe(expected)
  })

  it.each([
    ['fieldSelector=spec.type%3Dx', 'field label not supported: spec.type'],
    ['fieldSelector=nonsense', "invalid selector: 'nonsense'; can't understand 'nonsense'"],
    ['labelSelector=app+in+web', "unable to parse requirement: found 'web' expected: '('"],
    ['limit=x', 'strconv.ParseInt: parsing "x": invalid syntax'],
    [
      'resourceVersion=abc',
      'invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
  ])('refuses %s', async (query, message) => {
    expect((await get(await seeded(), query)).body).toMatchObject({ code: 400, message })
  })

  it('finds the one that is named among those that are named alike', async () => {
    const registry = await aWidgetRegistry()
    for (const name of ['we', 'wea', 'weaz', 'web', 'web-a', 'web0', 'wec']) await makeWidget(registry, name)
    const { resourceVersion } = (await get(registry, '')).body.metadata
    expect((await get(registry, 'fieldSelector=metadata.name%3Dweb')).body).toMatchObject({
      items: [{ metadata: { name: 'web' } }],
      metadata: { resourceVersion },
    })
    expect(names(await get(registry, 'fieldSelector=metadata.name%3Dwe'))).toBe('we')
    expect(names(await get(registry, 'fieldSelector=metadata.name%3Dweb&limit=1'))).toBe('web')
    expect(names(await get(registry, 'fieldSelector=metadata.name%3Dweb%2Cmetadata.name%3Dwea'))).toBe('')
    expect(names(await get(registry, 'fieldSelector=metadata.name%3Dweb&labelSelector=x'))).toBe('')
    for (const missing of ['', 'weba', 'a', 'zz', 'wed', '\u00e9']) {
      expect(names(await get(registry, `fieldSelector=metadata.name%3D${encodeURIComponent(missing)}`))).toBe(
        '',
      )
    }
    await registry.send('DELETE', `${widgets}/web`)
    const exact = `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`
    expect(names(await get(registry, `fieldSelector=metadata.name%3Dweb&${exact}`))).toBe('web')
    expect(names(await get(registry, 'fieldSelector=metadata.name%3Dweb'))).toBe('')
  })

  it('does not select cluster-scoped objects by namespace', async () => {
    const registry = await aWidgetRegistry()
    await registry.send('POST', spaces, { body: aSpace('a') })
    expect(names(await get(registry, 'fieldSelector=metadata.name%3Da', spaces))).toBe('a')
    expect((await get(registry, 'fieldSelector=metadata.namespace%3Da', spaces)).code).toBe(400)
  })

  it('takes labels from metadata only', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'a', { spec: { extra: { labels: { app: 'web' } } } })
    expect(names(await get(registry, 'labelSelector=app%3Dweb'))).toBe('')
    expect(names(await get(registry, 'labelSelector=app%21%3Dweb'))).toBe('a')
  })
})

describe('list at a revision', () => {
  it('shows exactly that one when it must match', async () => {
    const registry = await seeded()
    const { resourceVersion } = (await get(registry, '')).body.metadata
    await registry.send('DELETE', `${widgets}/a`)
    const exact = await get(registry, `resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`)
    expect([names(exact), exact.body.metadata.resourceVersion]).toEqual(['abcde', resourceVersion])
    const legacy = await get(registry, `resourceVersion=${resourceVersion}&limit=2`)
    expect([names(legacy), legacy.body.metadata.resourceVersion]).toEqual(['ab', resourceVersion])
    expect(
      names(await get(registry, `resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`)),
    ).toBe('bcde')
    expect(names(await get(registry, `resourceVersion=${resourceVersion}`))).toBe('bcde')
    expect(names(await get(registry, 'resourceVersion=0'))).toBe('bcde')
  })

  it('answers 410 for one that is no longer kept', async () => {
    const registry = await seeded()
    await registry.store.compact(registry.store.revision())
    expect((await get(registry, 'resourceVersion=2&resourceVersionMatch=Exact')).body).toMatchObject({
      code: 410,
      reason: 'Expired',
    })
  })

  it('waits three seconds for one that is still to come', async () => {
    const registry = await seeded()
    const next = registry.store.revision() + 1
    const waiting = get(registry, `resourceVersion=${next}`)
    await registry.clock.advance(1_000)
    await makeWidget(registry, 'f')
    await registry.clock.advance(1_000)
    expect(names(await waiting)).toBe('abcdef')
    for (const query of [
      `resourceVersion=${next + 9}`,
      `resourceVersion=${next + 9}&resourceVersionMatch=Exact`,
    ]) {
      const late = get(registry, query)
      await registry.clock.advance(3_000)
      expect((await late).body).toMatchObject({
        code: 504,
        reason: 'Timeout',
        message: `Timeout: Too large resource version: ${next + 9}, current: ${next}`,
        details: {
          retryAfterSeconds: 1,
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        },
      })
    }
  })

  it.each([
    [
      'resourceVersionMatch=Exact',
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    ],
    [
      'resourceVersion=0&resourceVersionMatch=Exact',
      'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ],
    [
      'resourceVersion=5&resourceVersionMatch=Sometimes',
      'resourceVersionMatch: Unsupported value: "Sometimes": supported values: "Exact", "NotOlderThan", ""',
    ],
    ['sendInitialEvents=true', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'],
    [
      'continue=x&resourceVersion=5&resourceVersionMatch=Exact',
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
    ],
  ])('refuses %s', async (query, message) => {
    expect((await get(await seeded(), query)).body).toMatchObject({
      code: 422,
      message: `ListOptions.meta.k8s.io "" is invalid: ${message}`,
    })
  })
})

describe('pages', () => {
  it('show one snapshot, and say how many are left', async () => {
    const registry = await seeded()
    const first = await get(registry, 'limit=2')
    expect([names(first), first.body.metadata.remainingItemCount]).toEqual(['ab', 3])
    await registry.send('DELETE', `${widgets}/d`)
    await makeWidget(registry, 'bb')
    const second = await get(registry, `limit=2&continue=${first.body.metadata.continue}`)
    expect([names(second), second.body.metadata.remainingItemCount]).toEqual(['cd', 1])
    const third = await get(registry, `limit=2&continue=${second.body.metadata.continue}`)
    expect(names(third)).toBe('e')
    expect(third.body.metadata).toEqual({ resourceVersion: first.body.metadata.resourceVersion })
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion)
  })

  it('are as long as the whole list without a limit, or with a negative one', async () => {
    const registry = await seeded()
    for (const limit of ['0', '-1', '5', '6']) {
      const page = await get(registry, `limit=${limit}`)
      expect([names(page), page.body.metadata.continue]).toEqual(['abcde', undefined])
    }
  })

  it('need no limit to go on', async () => {
    const registry = await seeded()
    const { continue: token } = (await get(registry, 'limit=1')).body.metadata
    expect(names(await get(registry, `continue=${token}`))).toBe('bcde')
  })

  it('count what selectors let through, and never say how many are left', async () => {
    const registry = await seeded()
    const first = await get(registry, 'limit=1&labelSelector=app%3Dweb')
    expect(names(first)).toBe('a')
    expect(first.body.metadata).not.toHaveProperty('remainingItemCount')
    const second = await get(
      registry,
      `limit=1&labelSelector=app%3Dweb&continue=${first.body.metadata.continue}`,
    )
    expect(names(second)).toBe('c')
    const last = await get(
      registry,
      `limit=1&labelSelector=app%3Dweb&continue=${second.body.metadata.continue}`,
    )
    expect(last.body.items).toEqual([])
    expect(last.body.metadata).not.toHaveProperty('continue')
  })

  it('fill up from far behind when few objects match', async () => {
    const registry = await aWidgetRegistry()
    for (let i = 0; i < 1_200; i += 1) {
      const metadata = i % 500 === 499 ? { labels: { rare: 'yes' } } : {}
      await makeWidget(registry, `w${String(i).padStart(4, '0')}`, { metadata })
    }
    const first = await get(registry, 'limit=1&labelSelector=rare')
    expect(names(first)).toBe('w0499')
    const rest = await get(registry, `limit=5&labelSelector=rare&continue=${first.body.metadata.continue}`)
    expect(names(rest)).toBe('w0999')
    expect(rest.body.metadata).not.toHaveProperty('continue')
  })

  it('go over all namespaces', async () => {
    const registry = await seeded()
    await registry.send('POST', widgets.replace('shop', 'another'), { body: aWidget('z') })
    let seen = ''
    let token = ''
    do {
      const page = await get(registry, `limit=2&continue=${token}`, allWidgets)
      seen += names(page)
      token = page.body.metadata.continue ?? ''
    } while (token !== '')
    expect(seen).toBe('zabcde')
  })

  it('end with 410 and a token for the newest state when the snapshot is gone', async () => {
    const registry = await seeded()
    const first = await get(registry, 'limit=2')
    await makeWidget(registry, 'f')
    await registry.store.compact(registry.store.revision())
    const expired = await get(registry, `limit=2&continue=${first.body.metadata.continue}`)
    expect(expired.body).toMatchObject({ code: 410, reason: 'Expired' })
    const rest = await get(registry, `continue=${expired.body.metadata.continue}`)
    expect([names(rest), rest.body.metadata.resourceVersion]).toEqual([
      'cdef',
      String(registry.store.revision()),
    ])
  })

  it.each([
    ['continue=garbage', /^invalid continue token: continue key is not valid$/],
    ['continue=e30', /^invalid continue token: continue key is not valid: server does not recognize/],
    [
      `continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":2,"start":"x\\u0000","r":"pods"}').toString('base64url')}`,
      /it belongs to another list$/,
    ],
  ])('refuse %s', async (query, message) => {
    expect((await get(await seeded(), query)).body).toMatchObject({
      code: 400,
      message: expect.stringMatching(message),
    })
  })

  it('refuse a resourceVersion beside a token', async () => {
    const registry = await seeded()
    const { continue: token, resourceVersion } = (await get(registry, 'limit=2')).body.metadata
    expect((await get(registry, `continue=${token}&resourceVersion=${resourceVersion}`)).body).toMatchObject({
      code: 400,
      message: 'specifying resource version is not allowed when using continue',
    })
    expect((await get(registry, `continue=${token}&resourceVersion=0`)).code).toBe(200)
  })
})

describe('get', () => {
  it('answers the newest state whatever older revision is asked for', async () => {
    const registry = await seeded()
    const body = { spec: { size: 1 } }
    await registry.send('PATCH', `${widgets}/a`, { body, type: mergePatchType })
    for (const query of ['', 'resourceVersion=0', 'resourceVersion=2']) {
      expect((await get(registry, query, `${widgets}/a`)).body.spec.size).toBe(1)
    }
  })

  it('waits for a revision that is still to come, and not for ever', async () => {
    const registry = await seeded()
    const late = get(registry, `resourceVersion=${registry.store.revision() + 1}`, `${widgets}/a`)
    await registry.clock.advance(3_000)
    expect((await late).code).toBe(504)
    expect((await get(registry, 'resourceVersion=x', `${widgets}/a`)).code).toBe(400)
  })

  it('ignores watch on an item', async () => {
    expect((await get(await seeded(), 'watch=1', `${widgets}/a`)).body.metadata.name).toBe('a')
  })

  it('answers 404 for what is not there', async () => {
    expect((await get(await seeded(), '', `${widgets}/nope`)).body).toMatchObject({
      code: 404,
      reason: 'NotFound',
      details: { name: 'nope', group: 'test.example.com', kind: 'widgets' },
    })
  })
})
