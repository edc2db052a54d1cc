import { describe, expect, it } from 'vitest'
import type { AdmissionPlugin } from '../../../../apiservice/contract.ts'
import type { Store } from '../../../../apiservice/store-contract.ts'
import { forbidden } from '../../../../src/kernel/errors.ts'
import { storeOver } from '../../../support/store-over.ts'
import { aWidget, aWidgetRegistry, makeWidget, widgets } from '../../../support/widgets.ts'

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('generateName', () => {
  it('makes names of five more characters that differ', async () => {
    const registry = await aWidgetRegistry()
    const body = aWidget('', { metadata: { generateName: 'gen-' } })
    const names = await Promise.all(
      Array.from(
        { length: 20 },
        async () => (await registry.send('POST', widgets, { body })).body.metadata.name,
      ),
    )
    expect(new Set(names).size).toBe(20)
    for (const name of names) expect(name).toMatch(/^gen-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
  })

  it('cuts a long prefix so that the name stays a label', async () => {
    const registry = await aWidgetRegistry()
    const body = aWidget('', { metadata: { generateName: 'a'.repeat(70) } })
    const { metadata } = (await registry.send('POST', widgets, { body })).body
    expect(metadata.name).toMatch(/^a{58}[a-z\d]{5}$/)
    expect(metadata.generateName).toBe('a'.repeat(70))
  })

  const occupied = (times: number) => {
    const tried: string[] = []
    const wrap = (store: Store): Store =>
      storeOver(store, {
        create: (key, body) => {
          tried.push(key.name)
          return tried.length <= times
            ? Promise.resolve({ done: false, current: { revision: 1, ...key, body } })
            : store.create(key, body)
        },
      })
    return { tried, wrap }
  }

  it('tries another name when one is taken', async () => {
    const { tried, wrap } = occupied(7)
    const registry = await aWidgetRegistry({ wrap })
    const body = aWidget('', { metadata: { generateName: 'gen-' } })
    const answer = await registry.send('POST', widgets, { body })
    expect(answer.code).toBe(201)
    expect(answer.body.metadata.name).toBe(tried.at(-1))
    expect(new Set(tried).size).toBe(8)
  })

  it('gives up after eight', async () => {
    const { tried, wrap } = occupied(8)
    const registry = await aWidgetRegistry({ wrap })
    const body = aWidget('', { metadata: { generateName: 'gen-' } })
    expect((await registry.send('POST', widgets, { body })).body).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      details: { retryAfterSeconds: 1 },
      message: expect.stringMatching(/the server was not able to generate a unique name for the object$/),
    })
    expect(tried).toHaveLength(8)
  })
})

describe('dry run of create', () => {
  it('answers what would be stored, without a resourceVersion, and stores nothing', async () => {
    const registry = await aWidgetRegistry()
    const watch = await registry.watch(`${widgets}?watch=1`)
    const { code, body } = await registry.send('POST', `${widgets}?dryRun=All`, { body: aWidget('dry') })
    expect([code, body.metadata.name, body.metadata.resourceVersion]).toEqual([201, 'dry', undefined])
    expect(body.metadata.uid).toMatch(uuid)
    expect((await registry.send('GET', `${widgets}/dry`)).code).toBe(404)
    await watch.settle()
    expect(watch.seen).toEqual([])
  })

  it('refuses what a real create would refuse', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const send = (body: unknown) => registry.send('POST', `${widgets}?dryRun=All`, { body })
    expect((await send(aWidget('web'))).code).toBe(409)
    expect((await send(aWidget('Bad_Name'))).code).toBe(422)
    expect(
      (await registry.send('POST', `${widgets}?dryRun=maybe`, { body: aWidget('x') })).body,
    ).toMatchObject({
      code: 422,
      message:
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["maybe"]: supported values: "All"',
    })
  })
})

describe('admission of create', () => {
  const seen: unknown[] = []
  const plugin: AdmissionPlugin = {
    name: 'painter',
    handles: attributes => attributes.served.kind.kind === 'Widget' && attributes.operation === 'CREATE',
    mutate: attributes =>
      Promise.resolve(
        attributes.object && {
          ...attributes.object,
          spec: { color: 'green', size: attributes.dryRun ? 1 : 2 },
        },
      ),
    validate: attributes => {
      const { operation, namespace, name, user, oldObject, dryRun, object } = attributes
      seen.push({ operation, namespace, name, user: user.name, oldObject, dryRun, spec: object?.spec })
      if (name === 'no') {
        throw forbidden({ group: 'test.example.com', resource: 'widgets' }, name, 'not that name')
      }
      return Promise.resolve()
    },
  }

  it('stores what a plugin made of the object, which validators get to see', async () => {
    const registry = await aWidgetRegistry({ plugins: [plugin] })
    const body = aWidget('', { metadata: { generateName: 'gen-' } })
    const answer = await registry.send('POST', widgets, { body })
    expect(answer.body.spec).toEqual({ color: 'green', size: 2 })
    expect(seen.at(-1)).toEqual({
      operation: 'CREATE',
      namespace: 'shop',
      name: answer.body.metadata.name,
      user: 'admin',
      oldObject: undefined,
      dryRun: false,
      spec: { color: 'green', size: 2 },
    })
    await registry.send('POST', `${widgets}?dryRun=All`, { body })
    expect(seen.at(-1)).toMatchObject({ dryRun: true, spec: { size: 1 } })
  })

  it('stores nothing that a plugin refuses', async () => {
    const registry = await aWidgetRegistry({ plugins: [plugin] })
    expect((await registry.send('POST', widgets, { body: aWidget('no') })).body).toMatchObject({
      code: 403,
      message: 'widgets.test.example.com "no" is forbidden: not that name',
    })
    expect((await registry.send('GET', `${widgets}/no`)).code).toBe(404)
  })
})
