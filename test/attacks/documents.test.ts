// Documents that are made to do something else than to be stored: names that mean something to JavaScript, bodies that
// become large when they are unpacked or expanded, and depth.
import { deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ApiAnswer, ApiClient } from '../support/api-client.ts'
import { type TestServer, testServer } from '../support/api-server.ts'

const path = '/api/v1/namespaces/default/configmaps'
let server: TestServer
let client: ApiClient

/** `POST ~/x application/json`: a method, a path below that of the objects (`~`), and the type of the body. */
const send = (
  how: string,
  body: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): Promise<ApiAnswer> => {
  const [method = '', to = '', ...type] = how.split(' ')
  const headersOfAll = { 'content-type': type.join(' '), ...headers }
  return client.send(to.replace('~', path), { method, headers: headersOfAll, body })
}

beforeAll(async () => {
  server = await testServer()
  client = server.client()
  await send(
    'POST /api/v1/namespaces application/json',
    '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}}',
  )
})
afterAll(() => server.close())

/** What everything inherits, and whoever adds to it adds to everything. */
const shared = [Object.prototype, Array.prototype, Function.prototype, String.prototype, Object, Array].map(
  of => ({
    of,
    names: Object.getOwnPropertyNames(of),
  }),
)
const unchanged = (): void => {
  for (const { of, names } of shared) expect(Object.getOwnPropertyNames(of)).toEqual(names)
  expect({}).not.toHaveProperty('polluted')
}

/** A server that was harmed would answer other requests with it. */
async function stillWell(): Promise<void> {
  const answer = await send(
    'POST ~?dryRun=All application/json',
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"well"}}',
  )
  expect(answer.status).toBe(201)
  expect(answer.text).not.toContain('polluted')
  unchanged()
}

describe('names that mean something to JavaScript', () => {
  const config = (name: string, more: string): string =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}${more}}`
  beforeEach(async () => {
    await client.send(`${path}/victim`, { method: 'DELETE' })
    expect((await send('POST ~ application/json', config('victim', ',"data":{"a":"b"}'))).status).toBe(201)
  })

  const proto = '{"polluted":"yes"}'
  it.each([
    ['JSON, on top', 'POST ~ application/json', config('x', `,"__proto__":${proto}`)],
    [
      'JSON, in metadata',
      'POST ~ application/json',
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","__proto__":${proto}}}`,
    ],
    [
      'JSON, in data',
      'POST ~ application/json',
      config('x', ',"data":{"__proto__":"polluted","constructor":"polluted"}'),
    ],
    ['JSON, as data', 'POST ~ application/json', config('x', `,"data":{"__proto__":${proto}}`)],
    [
      'JSON, in labels',
      'POST ~ application/json',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","labels":{"__proto__":"polluted","constructor":"a"}}}',
    ],
    [
      'JSON, in annotations',
      'POST ~ application/json',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","annotations":{"constructor":"polluted","prototype":"a"}}}',
    ],
    [
      'JSON, the constructor',
      'POST ~ application/json',
      config('x', `,"constructor":{"prototype":${proto}}`),
    ],
    [
      'JSON, with escapes',
      'POST ~ application/json',
      config('x', `,"\\u005f\\u005fproto\\u005f\\u005f":${proto}`),
    ],
    [
      'YAML, on top',
      'POST ~ application/yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n__proto__: {polluted: "yes"}\n`,
    ],
    [
      'YAML, in data',
      'POST ~ application/yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {__proto__: polluted, constructor: polluted}\n`,
    ],
    [
      'YAML, by a merge key',
      'POST ~ application/yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n  <<: {__proto__: {polluted: "yes"}}\n`,
    ],
    [
      'YAML, as an anchor and an alias',
      'POST ~ application/yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nx: &__proto__ {polluted: "yes"}\ny: *__proto__\n`,
    ],
    [
      'YAML, as a tag',
      'POST ~ application/yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: !!js/function "polluted"}\n`,
    ],
    [
      'JSON patch, add below',
      'PATCH ~/victim application/json-patch+json',
      '[{"op":"add","path":"/__proto__/polluted","value":"yes"}]',
    ],
    [
      'JSON patch, add',
      'PATCH ~/victim application/json-patch+json',
      `[{"op":"add","path":"/data/__proto__","value":${proto}}]`,
    ],
    [
      'JSON patch, the constructor',
      'PATCH ~/victim application/json-patch+json',
      '[{"op":"add","path":"/constructor/prototype/polluted","value":"yes"}]',
    ],
    [
      'JSON patch, replace',
      'PATCH ~/victim application/json-patch+json',
      '[{"op":"replace","path":"/metadata/__proto__","value":{"polluted":"yes"}}]',
    ],
    [
      'JSON patch, copy from',
      'PATCH ~/victim application/json-patch+json',
      '[{"op":"copy","from":"/__proto__","path":"/data/polluted"}]',
    ],
    [
      'JSON patch, move to',
      'PATCH ~/victim application/json-patch+json',
      '[{"op":"move","from":"/data/a","path":"/__proto__/polluted"}]',
    ],
    [
      'JSON patch, test',
      'PATCH ~/victim application/json-patch+json',
      '[{"op":"test","path":"/__proto__/toString","value":null}]',
    ],
    [
      'JSON patch, of a list',
      'PATCH ~/victim application/json-patch+json',
      '[{"op":"add","path":"/metadata/finalizers/__proto__","value":"polluted"}]',
    ],
    [
      'JSON patch, an operation of its own',
      'PATCH ~/victim application/json-patch+json',
      '[{"op":"__proto__","path":"/data","value":{}},{"__proto__":{"op":"remove"},"path":"/data"}]',
    ],
    [
      'merge patch',
      'PATCH ~/victim application/merge-patch+json',
      `{"__proto__":${proto},"constructor":{"prototype":${proto}},"data":{"__proto__":"polluted"}}`,
    ],
    [
      'merge patch that removes',
      'PATCH ~/victim application/merge-patch+json',
      '{"__proto__":null,"metadata":{"__proto__":{"toString":null}}}',
    ],
    [
      'strategic merge patch',
      'PATCH ~/victim application/strategic-merge-patch+json',
      `{"__proto__":${proto},"metadata":{"__proto__":${proto}},"data":{"constructor":"polluted"}}`,
    ],
    [
      'strategic merge patch, its words',
      'PATCH ~/victim application/strategic-merge-patch+json',
      '{"data":{"$patch":"delete"},"$retainKeys":["__proto__"],"$setElementOrder/__proto__":[]}',
    ],
    [
      'apply',
      'PATCH ~/victim?fieldManager=m&force=true application/apply-patch+yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: victim}\n__proto__: {polluted: "yes"}\ndata: {__proto__: polluted, constructor: polluted}\n`,
    ],
    [
      'apply by a manager of that name',
      'PATCH ~/victim?fieldManager=__proto__&force=true application/apply-patch+yaml',
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: victim}\ndata: {a: c}\n`,
    ],
    [
      'managed fields',
      'PUT ~/victim application/json',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"victim","managedFields":[{"manager":"__proto__","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:__proto__":{"f:polluted":{}},"__proto__":{"polluted":{}}}}]}}',
    ],
    [
      'options of a deletion',
      'DELETE ~/victim application/json',
      `{"apiVersion":"v1","kind":"DeleteOptions","__proto__":{"dryRun":["All"]},"preconditions":{"__proto__":{"uid":"x"}}}`,
    ],
  ])('%s', async (_, how, body) => {
    const answer = await send(how, body)
    expect(answer.status).toBeLessThan(500)
    await client.send(`${path}/x`, { method: 'DELETE' })
    await stillWell()
  })

  it.each([
    '__proto__=polluted',
    '__proto__[polluted]=yes',
    'constructor.prototype.polluted=yes',
    'labelSelector=__proto__%3Dpolluted,constructor!%3Dx',
    'labelSelector=__proto__%20in%20(polluted)',
    'fieldSelector=__proto__%3Dpolluted',
    'fieldSelector=metadata.__proto__%3Dx',
    'fieldSelector=constructor%3Dx',
    'fieldManager=__proto__',
    'resourceVersionMatch=__proto__',
    'includeObject=__proto__',
    'timeout=1__proto__',
    'timeout=1constructor',
    'timeout=1toString',
    'pretty=__proto__',
    'continue=__proto__',
  ])('the query ?%s', async query => {
    for (const to of [
      path,
      `${path}/victim`,
      `/apis/__proto__/v1/constructor`,
      '/apis/constructor',
      '/openapi/v3/__proto__',
      '/api/__proto__',
    ]) {
      expect((await client.send(`${to}?${query}`)).status).toBeLessThan(500)
    }
    await stillWell()
  })

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'headers and media types called %s',
    async name => {
      const headers = {
        [name.toLowerCase()]: 'polluted',
        accept: `application/json;as=${name};v=v1;g=meta.k8s.io, ${name}/${name}`,
      }
      expect((await client.send(path, { headers })).status).toBeLessThan(500)
      expect((await send(`POST ~ application/${name}`, '{}')).status).toBe(415)
      expect((await send(`PATCH ~/victim ${name}`, '{}')).status).toBe(415)
      await stillWell()
    },
  )
})

describe('bodies that grow', () => {
  const large = JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'large' },
    data: { a: '0'.repeat(2_000_000_000 / 1000) },
  })

  it.each([
    ['gzip', gzipSync(large)],
    ['deflate', deflateSync(large)],
    ['gzip, gzip', gzipSync(gzipSync(large))],
    ['br', Buffer.from(large.slice(0, 100))],
    ['x-gzip', gzipSync(large)],
    ['identity, gzip', gzipSync(large)],
  ])('are never unpacked: Content-Encoding: %s', async (encoding, body) => {
    for (const type of ['application/json', 'application/yaml', 'application/vnd.kubernetes.protobuf']) {
      const answer = await send(`POST ~ ${type}`, body, { 'content-encoding': encoding })
      expect(answer.status).toBe(400)
    }
    expect((await client.send(`${path}/large`)).status).toBe(404)
  })

  const bombs: readonly (readonly [string, string])[] = [
    [
      'aliases of aliases',
      [
        'a: &a [x,x,x,x,x,x,x,x,x]',
        ...[...'bcdefghij'].map(
          (name, i) =>
            `${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdefghi'[i]}`).join(',')}]`,
        ),
      ].join('\n'),
    ],
    ['an alias of itself', 'a: &a [*a]'],
    ['an alias of what holds it', 'a: &a\n  b: {c: *a}'],
    [
      'merges of merges',
      [
        'x0: &x0 {a: b}',
        ...Array.from({ length: 40 }, (_, i) => `x${i + 1}: &x${i + 1} {<<: [*x${i}, *x${i}], k${i}: v}`),
      ].join('\n'),
    ],
    [
      'a hundred thousand aliases of a long text',
      `a: &a ${'x'.repeat(10_000)}\nb: [${'*a, '.repeat(100_000)}]`,
    ],
    ['nested lists', '['.repeat(200_000)],
    ['nested maps', '{a: '.repeat(100_000)],
    ['nested blocks', '- '.repeat(200_000)],
    ['a text that is not closed', `a: "${'x'.repeat(900_000)}`],
    ['a number that means a length', 'a: !!binary "AAAA"\nb: !!int 0x7fffffffffffffffffffffffffff'],
  ]
  const aConfigMap = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n'

  it.each([
    ['a folded text', `a: >\n${' x\n\n'.repeat(150_000)}`],
    ['a long number', `a: ${'9'.repeat(900_000)}`],
    ['an exponent', 'a: 1e999999999'],
    ['documents', '---\n'.repeat(200_000)],
  ])(
    'YAML that is only large is read, and what is not known is left out: %s',
    async (_, body) => {
      const answer = await send('POST ~?dryRun=All application/yaml', `${aConfigMap}${body}`)
      expect(answer.status).toBe(201)
      expect(answer.text.length).toBeLessThan(1_000)
      await stillWell()
    },
    60_000,
  )

  it.each(bombs)(
    'YAML: %s',
    async (_, body) => {
      const answer = await send('POST ~?dryRun=All application/yaml', `${aConfigMap}${body}`)
      expect([400, 413]).toContain(answer.status)
      expect(answer.text.length).toBeLessThan(100_000)
      await stillWell()
    },
    60_000,
  )

  it.each([
    [
      'lists',
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":${'['.repeat(1_000_000)}`,
    ],
    [
      'lists that end',
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`,
    ],
    [
      'objects',
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}}`,
    ],
    [
      'objects where some are allowed',
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep","managedFields":[{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${'{"f:a":'.repeat(100_000)}{}${'}'.repeat(100_000)}}]}}`,
    ],
    [
      'a long number',
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep"},"x":${'9'.repeat(2_000_000)}}`,
    ],
    [
      'an exponent',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"deep","generation":1e999999999}}',
    ],
  ])(
    'JSON: deep %s',
    async (_, body) => {
      for (const how of ['POST ~ application/json', 'PATCH ~/victim application/merge-patch+json']) {
        const answer = await send(how, body)
        expect([400, 413, 422]).toContain(answer.status)
        expect(answer.text.length).toBeLessThan(100_000)
      }
      await stillWell()
    },
    60_000,
  )
})
