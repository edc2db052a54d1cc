import { expect, it } from 'vitest'
import { openapiV3 } from '../../src/api/derive/openapi-v3.ts'
import { SpaceKind, WidgetKind } from '../support/kinds.ts'
import { aSpace, aWidgetRegistry, makeWidget, spaces, widgets } from '../support/widgets.ts'

/** The patches that OpenAPI says a path takes. */
function published(group: string, version: string, path: string): readonly string[] {
  const document = openapiV3([WidgetKind, SpaceKind], group, version)
  const body = document?.paths[path]?.patch?.requestBody
  return body !== undefined && 'content' in body ? Object.keys(body.content) : []
}

it.each([
  [
    `${widgets}/web`,
    'test.example.com',
    'v2',
    '/apis/test.example.com/v2/namespaces/{namespace}/widgets/{name}',
  ],
  [`${spaces}/shop`, '', 'v1', '/api/v1/spaces/{name}'],
])(
  'the patches that %s takes are those that its OpenAPI document names',
  async (item, group, version, path) => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    await registry.send('POST', spaces, { body: aSpace('shop') })
    const answer = await registry.send('PATCH', item, { body: 'x', type: 'text/plain' })
    expect(answer).toMatchObject({
      code: 415,
      body: {
        message: `the body of the request was in an unknown format - accepted media types include: ${published(group, version, path).join(', ')}`,
      },
    })
  },
)
