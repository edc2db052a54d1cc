import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RegistryUnderTest, WatchUnderTest } from '../../../support/registry.ts'
import { aWidget, aWidgetRegistry, mergePatchType, widgets } from '../../../support/widgets.ts'

/** `app` is the label that a patch sets, or takes away. */
type Step = {
  readonly do: 'create' | 'delete' | 'label'
  readonly name: string
  readonly app: string | null
}

const name = fc.constantFrom('a', 'b', 'c')
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('create', 'delete', 'label', 'label'),
  name,
  app: fc.constantFrom('web', 'db', null),
})

async function run(registry: RegistryUnderTest, steps: readonly Step[]): Promise<void> {
  for (const one of steps) {
    const item = `${widgets}/${one.name}`
    if (one.do === 'create') await registry.send('POST', widgets, { body: aWidget(one.name) })
    else if (one.do === 'delete') await registry.send('DELETE', item)
    else {
      const body = { metadata: { labels: { app: one.app } } }
      await registry.send('PATCH', item, { body, type: mergePatchType })
    }
  }
}

type Named = { readonly metadata: { readonly name: string } }

/** What a client holds that listed and then followed the watch. */
function followed(listed: readonly Named[], watch: WatchUnderTest): readonly Named[] {
  const held = new Map(listed.map(object => [object.metadata.name, object]))
  for (const { type, object } of watch.frames) {
    const known = held.has(object.metadata.name)
    expect([type, known]).toEqual([type, type !== 'ADDED'])
    if (type === 'DELETED') held.delete(object.metadata.name)
    else held.set(object.metadata.name, object)
  }
  return [...held.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

describe('a list at a revision and a watch from it', () => {
  it.each(['', 'labelSelector=app%3Dweb&', 'labelSelector=app!%3Dweb&', 'fieldSelector=metadata.name%3Da&'])(
    'are together the list at any later one (%s)',
    async selector => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
          const registry = await aWidgetRegistry()
          const first = registry.store.revision()
          await run(registry, steps)
          const { items } = (await registry.send('GET', `${widgets}?${selector}`)).body
          for (let revision = first; revision <= registry.store.revision(); revision += 1) {
            const at = `${selector}resourceVersion=${revision}`
            const listed = await registry.send('GET', `${widgets}?${at}&resourceVersionMatch=Exact`)
            const watch = await registry.watch(`${widgets}?watch=1&${at}`)
            expect(followed(listed.body.items, watch)).toEqual(items)
          }
        }),
        { numRuns: 12 },
      )
    },
  )
})
