import { describe, expect, it } from 'vitest'
import type { Encoded, Handler, Reply, ResourceVerb } from '../../../../apiservice/contract.ts'
import { recovery } from '../../../../apiservice/http/recover.ts'
import { render, requireAcceptable } from '../../../../apiservice/negotiation/stage.ts'
import { parseYaml, toYaml } from '../../../../src/codec/yaml.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { conflict, notFound, unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { type ApiRequestOptions, anApiRequest, aResourceInfo } from '../../../support/api-request.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { aWidget, widgetJson, widgetMetadata, widgets } from '../../../support/widget.ts'

const clock = manualClock()
const recover = recovery(memoryLogger())
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = (kind: string) => `application/json;as=${kind};v=v1;g=meta.k8s.io`

const object: Reply = { type: 'object', code: 201, served: widgets, object: aWidget('a', { size: 3 }) }
const list: Reply = {
  type: 'list',
  served: widgets,
  items: [aWidget('a', { size: 3 }), aWidget('b')],
  revision: 12,
}
const emptyList: Reply = { ...list, items: [] }

async function rendered(reply: Reply | Handler, accept?: string, options: ApiRequestOptions = {}) {
  const handler: Handler = typeof reply === 'function' ? reply : () => Promise.resolve(reply)
  const headers = { ...options.headers, ...(accept === undefined ? {} : { accept }) }
  const encoded = await render(clock, recover)(handler)(anApiRequest({ ...options, headers }), never)
  return { code: encoded.code, headers: encoded.headers, text: textOf(encoded) }
}

function textOf(encoded: Encoded): string {
  switch (encoded.type) {
    case 'bytes':
      return bytesOf(encoded).toString()
    case 'slices':
      return Buffer.concat(copies(encoded.slices)).toString()
    case 'frames':
      return ''
  }
}

function bytesOf({ body, encoding }: Extract<Encoded, { type: 'bytes' }>): Buffer {
  return typeof body === 'string' ? Buffer.from(body, encoding) : body
}

/** A slice is good until the next is asked for. */
function copies(slices: Iterable<Buffer>): readonly Buffer[] {
  return Array.from(slices, slice => Buffer.from(slice))
}

const json = async (...call: Parameters<typeof rendered>) => JSON.parse((await rendered(...call)).text)

const columns = [
  { name: 'Name', type: 'string', format: 'name', description: expect.any(String), priority: 0 },
  { name: 'Size', type: 'integer', format: '', description: 'How large.', priority: 0 },
]

describe('an object', () => {
  it('is its stored bytes under the served names, and a newline', async () => {
    const answer = await rendered(object)
    expect(answer).toMatchObject({ code: 201, headers: { 'content-type': 'application/json' } })
    expect(answer.text.endsWith('}\n')).toBe(true)
    expect(JSON.parse(answer.text)).toEqual(widgetJson('a', { size: 3 }))
    expect(await json({ ...object, served: { ...widgets, version: 'v1beta1' } })).toMatchObject({
      apiVersion: 'example.com/v1beta1',
    })
  })

  it.each([1, 20_000])('is the same bytes whatever its letters, %i of them', async letters => {
    const text = 'ü€😀'.repeat(letters)
    const { metadata } = await json({ ...object, object: aWidget('a', { note: text }) })
    expect(metadata.annotations).toEqual({ note: text })
  })

  it('that was never stored has no resourceVersion', async () => {
    const { metadata } = await json({ ...object, object: aWidget('a', { revision: 0 }) })
    expect(metadata).toEqual({ name: 'a', namespace: 'shop', uid: 'uid-a' })
  })

  it('as PartialObjectMetadata is its metadata', async () => {
    expect(await json(object, partial('PartialObjectMetadata'))).toEqual(widgetMetadata('a'))
  })

  it('as Table is one row with the resourceVersion of the object', async () => {
    expect(await json(object, table)).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '7' },
      columnDefinitions: columns,
      rows: [{ cells: ['a', 3], object: widgetMetadata('a') }],
    })
  })

  it('in YAML has its keys sorted', async () => {
    const answer = await rendered(object, 'application/yaml')
    expect(answer.headers).toEqual({ 'content-type': 'application/yaml' })
    expect(answer.text).toBe(
      [
        'apiVersion: example.com/v1',
        'kind: Widget',
        'metadata:',
        '  name: a',
        '  namespace: shop',
        '  resourceVersion: "7"',
        '  uid: uid-a',
        'spec:',
        '  size: 3',
        '',
      ].join('\n'),
    )
  })

  it.each([
    ['pretty=true', {}, true],
    ['pretty=1', {}, true],
    ['pretty=false', { 'user-agent': 'curl/8.0' }, false],
    ['', { 'user-agent': 'curl/8.0' }, true],
    ['', { 'user-agent': 'Wget/1.2' }, true],
    ['', { 'user-agent': 'Mozilla/5.0 (X11)' }, true],
    ['', { 'user-agent': 'kubectl/v1.36 curl' }, false],
  ])('with ?%s and %j is laid out for people: %j', async (query, headers, pretty) => {
    const { text } = await rendered(object, undefined, { headers, query: new URLSearchParams(query) })
    const value = widgetJson('a', { size: 3 })
    expect(text).toBe(`${JSON.stringify(value, null, pretty ? 2 : 0)}\n`)
  })
})

describe('a list', () => {
  it('repeats the names in every item, and is an array also when empty', async () => {
    expect(await json(list)).toEqual({
      kind: 'WidgetList',
      apiVersion: 'example.com/v1',
      metadata: { resourceVersion: '12', continue: '' },
      items: [widgetJson('a', { size: 3 }), widgetJson('b')],
    })
    expect(await json(emptyList)).toMatchObject({ kind: 'WidgetList', items: [] })
  })

  it('says where to go on and how much is left', async () => {
    const { metadata } = await json({ ...list, continue: 'token', remainingItemCount: 5 })
    expect(metadata).toEqual({ resourceVersion: '12', continue: 'token', remainingItemCount: 5 })
  })

  it('as Table carries the list metadata, and rows as an array also when empty', async () => {
    expect(await json({ ...list, continue: 'token' }, table)).toEqual({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '12', continue: 'token' },
      columnDefinitions: columns,
      rows: [
        { cells: ['a', 3], object: widgetMetadata('a') },
        { cells: ['b', null], object: widgetMetadata('b') },
      ],
    })
    expect(await json(emptyList, table)).toMatchObject({ rows: [], metadata: { resourceVersion: '12' } })
  })

  it.each([
    ['', widgetMetadata('a')],
    ['Metadata', widgetMetadata('a')],
    ['Object', widgetJson('a', { size: 3 })],
    ['None', null],
  ])('as Table with includeObject=%s', async (includeObject, expected) => {
    const { rows } = await json(list, table, { query: new URLSearchParams({ includeObject }) })
    expect(rows[0].object).toEqual(expected)
  })

  it('as Table of v1beta1 has rows of that version', async () => {
    const { apiVersion, rows } = await json(list, table.replace('v=v1', 'v=v1beta1'))
    expect([apiVersion, rows[0].object]).toEqual(['meta.k8s.io/v1beta1', widgetMetadata('a', 'v1beta1')])
  })

  it('as PartialObjectMetadataList', async () => {
    expect(await json(list, partial('PartialObjectMetadataList'))).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '12' },
      items: [widgetMetadata('a'), widgetMetadata('b')],
    })
  })

  it.each([undefined, table, partial('PartialObjectMetadataList')])(
    'in YAML is the same as in JSON, in any shape (%s)',
    async accept => {
      for (const reply of [list, emptyList]) {
        const { text } = await rendered(reply, (accept ?? 'application/json').replace('json', 'yaml'))
        expect(parseYaml(text).value).toEqual(await json(reply, accept))
        expect(text).toBe(toYaml(await json(reply, accept)))
      }
    },
  )

  it('in YAML', async () => {
    const { text } = await rendered(list, 'application/yaml')
    expect(text).toContain('items:\n- apiVersion: example.com/v1\n  kind: Widget\n')
    expect(text.endsWith('kind: WidgetList\nmetadata:\n  continue: ""\n  resourceVersion: "12"\n')).toBe(true)
  })

  const many: Reply = {
    ...list,
    items: Array.from({ length: 5_000 }, (_, i) => aWidget(`w${i}`, { note: 'ä€'.repeat(100) })),
  }

  it('that is long is made in slices, in any form that is JSON', async () => {
    for (const [accept, key, query] of [
      [undefined, 'items', ''],
      [table, 'rows', ''],
      [table, 'rows', 'includeObject=Object'],
      [partial('PartialObjectMetadataList'), 'items', ''],
      [undefined, 'items', 'pretty=1'],
    ] as const) {
      const request = anApiRequest({
        headers: { ...(accept && { accept }) },
        query: new URLSearchParams(query),
      })
      const encoded = await render(clock, recover)(() => Promise.resolve(many))(request, never)
      if (encoded.type !== 'slices') throw new Error(`made as ${encoded.type}`)
      const slices = copies(encoded.slices)
      expect(slices.length).toBeGreaterThan(1)
      const body = Buffer.concat(slices)
      expect(JSON.parse(body.toString())[key]).toHaveLength(5_000)
      const isTold = accept === undefined && query === ''
      expect(encoded.length?.(), `${accept} ${query}`).toBe(isTold ? body.length : undefined)
    }
  })

  it('that is long is not made before somebody reads it', async () => {
    const encoded = await render(clock, recover)(() => Promise.resolve(many))(anApiRequest(), never)
    if (encoded.type !== 'slices') throw new Error(`made as ${encoded.type}`)
    const iterator = encoded.slices[Symbol.iterator]()
    const first = iterator.next()
    expect(first.done === true ? 0 : first.value.length).toBeLessThan(600_000)
    iterator.return?.()
  })
})

describe('an error', () => {
  const missing = notFound({ group: 'example.com', resource: 'widgets' }, 'none')
  const fails: Handler = () => Promise.reject(missing)

  it.each([undefined, '*/*', table, 'application/vnd.kubernetes.protobuf', 'text/html', 'garbage;;,'])(
    'is a Status in JSON for Accept %s',
    async accept => {
      const answer = await rendered(fails, accept)
      expect(answer).toMatchObject({ code: 404, headers: { 'content-type': 'application/json' } })
      expect(JSON.parse(answer.text)).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'widgets.example.com "none" not found',
        reason: 'NotFound',
        details: { name: 'none', group: 'example.com', kind: 'widgets' },
        code: 404,
      })
    },
  )

  it('is a Status in YAML where YAML is asked for', async () => {
    const answer = await rendered(fails, 'application/yaml')
    expect(answer.headers['content-type']).toBe('application/yaml')
    expect(answer.text).toContain('reason: NotFound\n')
  })

  it('says when to try again in a header too', async () => {
    expect((await rendered(() => Promise.reject(unavailable('busy', 3)))).headers).toMatchObject({
      'retry-after': '3',
    })
    expect(
      (await rendered(() => Promise.reject(conflict({ group: '', resource: 'x' }, 'y')))).headers,
    ).not.toHaveProperty('retry-after')
  })

  it.each<[string, Handler]>([
    ['a rejection', () => Promise.reject(new TypeError('secret'))],
    [
      'a throw',
      () => {
        throw new TypeError('secret')
      },
    ],
  ])('that nobody foresaw is a 500 without details: %s', async (_, handler) => {
    const answer = await rendered(handler)
    expect(answer.code).toBe(500)
    expect(answer.text).not.toContain('secret')
  })

  it('of encoding is a 500 too', async () => {
    const broken: Reply = { ...object, object: { ...aWidget('a'), body: Buffer.from('no body') } }
    expect(await json(broken, partial('PartialObjectMetadata'))).toMatchObject({ kind: 'Status', code: 500 })
  })
})

describe('what must be acceptable before the work', () => {
  const worked: Reply = {
    type: 'status',
    code: 200,
    status: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' },
  }

  async function outcome(verb: ResourceVerb, accept: string, query = '') {
    let calls = 0
    const stage = requireAcceptable(async () => {
      calls++
      return worked
    })
    const request = anApiRequest({
      info: aResourceInfo({ verb }),
      headers: { accept },
      query: new URLSearchParams(query),
    })
    const code = await Promise.try(stage, request, never).then(
      () => 200,
      (thrown: { code: number }) => thrown.code,
    )
    expect(calls).toBe(code === 200 ? 1 : 0)
    return code
  }

  it.each([
    ['create', 'application/json', '', 200],
    ['create', 'text/html', '', 406],
    ['create', 'application/vnd.kubernetes.protobuf', '', 406],
    ['get', partial('PartialObjectMetadata'), '', 200],
    ['get', partial('PartialObjectMetadataList'), '', 406],
    ['list', partial('PartialObjectMetadataList'), '', 200],
    ['list', partial('PartialObjectMetadata'), '', 406],
    ['watch', partial('PartialObjectMetadata'), '', 200],
    ['watch', partial('PartialObjectMetadataList'), '', 406],
    ['watch', 'application/yaml', '', 406],
    ['watch', 'application/yaml,application/json', '', 200],
    ['patch', partial('PartialObjectMetadata'), '', 200],
    ['list', table, '', 200],
    ['list', table, 'includeObject=Some', 400],
    ['list', 'application/json', 'includeObject=Some', 200],
    ['list', 'application/json;as=Chair;g=meta.k8s.io;v=v1', '', 406],
  ] as const)('%s as %s with ?%s: %d', async (verb, accept, query, code) => {
    expect(await outcome(verb, accept, query)).toBe(code)
  })

  it('refuses a watch over WebSocket', () => {
    const stage = requireAcceptable(() => Promise.resolve(worked))
    const request = anApiRequest({
      info: aResourceInfo({ verb: 'watch' }),
      headers: { upgrade: 'websocket' },
    })
    expect(() => stage(request, never)).toThrow('watches over WebSocket are not served')
  })

  it('says what is accepted', () => {
    const stage = requireAcceptable(() => Promise.resolve(worked))
    const request = anApiRequest({ info: aResourceInfo(), headers: { accept: 'text/html' } })
    expect(() => stage(request, never)).toThrow(
      'only the following media types are accepted: application/json, application/yaml',
    )
  })
})
