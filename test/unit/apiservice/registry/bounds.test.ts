// What one request may make the server compute.
import { expect, it } from 'vitest'
import {
  applyType,
  aSpace,
  aWidget,
  aWidgetRegistry,
  jsonPatchType,
  makeWidget,
  spaces,
  widgets,
} from '../../../support/widgets.ts'

const many = Array.from({ length: 10_001 }, (_, i) => `a${i}`)

it('a list that merges by item has at most 10,000 items', async () => {
  const registry = await aWidgetRegistry()
  const posted = await registry.send('POST', widgets, { body: aWidget('web', { spec: { tags: many } }) })
  expect(posted).toMatchObject({ code: 422 })
  expect(posted.body.message).toContain('spec.tags: Too many: 10001: must have at most 10000 items')
  const applied = await registry.send('PATCH', `${widgets}/web?fieldManager=ann`, {
    body: aWidget('web', { spec: { tags: many } }),
    type: applyType,
  })
  expect(applied).toMatchObject({ code: 400 })
  expect(applied.body.message).toContain('.spec.tags: Too many: 10001')
})

it.each([
  ['finalizers', many.map(name => `example.com/${name}`)],
  ['ownerReferences', many.map(uid => ({ uid }))],
])('an object has at most 10,000 %s', async (name, list) => {
  const registry = await aWidgetRegistry()
  const body = { ...aSpace('s'), metadata: { name: 's', [name]: list } }
  const refused = await registry.send('POST', spaces, { body })
  expect(refused).toMatchObject({ code: 400 })
  expect(refused.body.message).toContain(`metadata.${name}: must have at most 10000 items`)
})

it('an answer names a hundred faults', async () => {
  const registry = await aWidgetRegistry()
  const labels = Object.fromEntries(many.map(name => [`-${name}`, '']))
  const refused = await registry.send('POST', widgets, { body: aWidget('web', { metadata: { labels } }) })
  expect(refused.code).toBe(422)
  expect(refused.body.details.causes).toHaveLength(100)
})

it('a JSON patch does not move the items of a long list ten thousand times', async () => {
  const registry = await aWidgetRegistry()
  await makeWidget(registry, 'web', { spec: { extra: { list: Array.from({ length: 30_000 }, () => 0) } } })
  const insert = (count: number) =>
    registry.send('PATCH', `${widgets}/web`, {
      type: jsonPatchType,
      body: Array.from({ length: count }, () => ({ op: 'add', path: '/spec/extra/list/0', value: 1 })),
    })
  expect(await insert(3_000)).toMatchObject({ code: 200 })
  expect(await insert(4_000)).toMatchObject({ code: 413 })
})
