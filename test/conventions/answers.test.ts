// The form of what is answered: lists, Tables, errors, media types.
import { expect } from 'vitest'
import { parse } from 'yaml'
import { apiVersionOf } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import type { Ask } from './frame/ask.ts'
import { must } from './frame/must.ts'
import { json, mergePatch } from './frame/subject.ts'
import { aSuite, isReadable, isServed, isStored } from './frame/suite.ts'

const suite = aSuite()

const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const kubectlTable = `${asTable},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`
const protobuf = 'application/vnd.kubernetes.protobuf'
const status = (code: number, reason: string) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: expect.stringMatching(/./),
  reason,
  code,
})

suite.every(isReadable, subject => {
  const { kind } = subject

  must([12, 13], 'is listed with a version, and an empty list is a list', async () => {
    const place = await subject.place()
    const empty = await suite.ask(`${place.collection}?labelSelector=conventions.test/none`)
    expect(empty).toMatchObject({
      code: 200,
      body: {
        kind: `${kind.kind}List`,
        apiVersion: apiVersionOf(kind),
        metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
        items: [],
      },
    })
    const object = await place.some()
    for (const { name } of kind.versions) {
      const { body } = await suite.ask(`${subject.collection(place.namespace, name)}?${place.selector}`)
      expect(body).toMatchObject({ kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind, name) })
      expect(body.items).toContainEqual({ ...object, apiVersion: apiVersionOf(kind, name) })
      for (const item of body.items) {
        expect(item).toMatchObject({ kind: kind.kind, apiVersion: apiVersionOf(kind, name) })
      }
    }
  })

  must([14, 15, 17], 'is printed as a Table with a cell for each of its columns', async () => {
    const place = await subject.place()
    const none = `${place.collection}?labelSelector=conventions.test/none`
    expect((await suite.ask(none, { accept: asTable })).body.rows).toEqual([])
    const object = await place.some()
    const item = await suite.ask(place.item(object), { accept: kubectlTable })
    const list = await suite.ask(`${place.collection}?${place.selector}`, { accept: kubectlTable })
    for (const { code, body } of [item, list]) {
      expect({ code, body }).toMatchObject({
        code: 200,
        body: { kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: expect.any(Object) },
      })
      for (const row of body.rows) expect(row.cells).toHaveLength(body.columnDefinitions.length)
      const names = body.columnDefinitions.filter((column: Column) => column.format === 'name')
      expect(names).toEqual([expect.objectContaining({ type: 'string' })])
      const at = body.columnDefinitions.indexOf(names[0])
      expect(body.rows.map(({ cells }: Row) => cells[at])).toContain(object.metadata.name)
    }
    expect(item.body.rows).toHaveLength(1)
    expect(item.body.metadata.resourceVersion).toBe(object.metadata.resourceVersion)
    expect(list.body.metadata.resourceVersion).toMatch(/^\d+$/)
    expect(list.body.columnDefinitions).toEqual(item.body.columnDefinitions)
  })

  must(17, 'keeps the columns that it declares for -o wide apart by their priority', async () => {
    const { body } = await suite.ask(subject.collection(), { accept: asTable })
    const priorities = body.columnDefinitions.map(({ name, priority }: Column) => [name, priority])
    const declared = kind.columns.map(({ name, priority = 0 }) => [name, priority])
    expect(priorities).toEqual(expect.arrayContaining(declared))
    for (const [, priority] of priorities) expect(priority).toBeGreaterThanOrEqual(0)
  })

  must(16, 'has in its rows what includeObject asks for', async () => {
    const place = await subject.place()
    const object = await place.some()
    const rows = async (query: string) =>
      (await suite.ask(`${place.item(object)}${query}`, { accept: asTable })).body.rows[0].object
    const { metadata } = object
    const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }
    expect(await rows('')).toEqual(partial)
    expect(await rows('?includeObject=Metadata')).toEqual(partial)
    expect(await rows('?includeObject=Object')).toEqual(object)
    expect(await rows('?includeObject=None')).toBeNull()
    const wrong = await suite.ask(`${place.collection}?includeObject=All`, { accept: asTable })
    expect(wrong).toMatchObject({ code: 400, body: status(400, 'BadRequest') })
  })

  must(19, 'is a 404 with its sentence where it is not there', async () => {
    const place = await subject.place()
    const message = `${subject.resource} "not.there" not found`
    const answers = [await suite.ask(`${place.collection}/not.there`)]
    if (kind.storage === 'stored') {
      const name = place.item({ metadata: { name: 'not.there' } })
      const body = { ...place.sample(), metadata: { name: 'not.there', resourceVersion: '1' } }
      answers.push(
        await suite.ask(name, { method: 'DELETE' }),
        await suite.ask(name, { method: 'PUT', body }),
        await suite.ask(name, { method: 'PATCH', body: {}, type: mergePatch }),
      )
    }
    for (const { code, body } of answers) {
      const details = { name: 'not.there', kind: kind.plural, ...(kind.group && { group: kind.group }) }
      expect({ code, body }).toEqual({ code: 404, body: { ...status(404, 'NotFound'), message, details } })
    }
  })

  must(21, 'is JSON for who takes anything', async () => {
    const place = await subject.place()
    const object = await place.some()
    for (const accept of [undefined, '', '*/*', 'application/*', 'text/html,*/*;q=0.1']) {
      const answer = await suite.ask(place.item(object), accept === undefined ? {} : { accept })
      expect(answer.headers['content-type']).toBe(json)
      expect(answer.body).toEqual(object)
    }
  })

  must(22, 'is YAML for who asks for it, alone and in lists', async () => {
    const place = await subject.place()
    const object = await place.some()
    const accept = 'application/yaml'
    const one = await suite.ask(place.item(object), { accept })
    expect(one.headers['content-type']).toBe(accept)
    expect(parse(one.text)).toEqual(object)
    const list = await suite.ask(`${place.collection}?${place.selector}`, { accept })
    expect(parse(list.text)).toMatchObject({ kind: `${kind.kind}List` })
    expect(parse(list.text).items).toContainEqual(object)
    const missing = await suite.ask(`${place.collection}/not.there`, { accept })
    expect(missing.headers['content-type']).toBe(accept)
    expect(parse(missing.text)).toMatchObject(status(404, 'NotFound'))
  })

  must(23, 'is answered in the next form that is taken, and a 406 only when there is none', async () => {
    const place = await subject.place()
    const object = await place.some()
    const fallen = await suite.ask(place.item(object), { accept: `${protobuf},${json}` })
    expect(fallen.headers['content-type']).toBe(json)
    expect(fallen.body).toEqual(object)
    for (const path of [place.item(object), place.collection]) {
      for (const accept of [protobuf, `${protobuf},text/html`]) {
        expect(await suite.ask(path, { accept })).toMatchObject({
          code: 406,
          body: {
            ...status(406, 'NotAcceptable'),
            message: 'only the following media types are accepted: application/json, application/yaml',
          },
        })
      }
    }
  })

  must(24, 'is found by names of 253 characters and by names with escapes', async () => {
    const place = await subject.place()
    const long = 'a'.repeat(253)
    const missing = await suite.ask(`${place.collection}/${long}`)
    expect(missing).toMatchObject({ code: 404, body: { reason: 'NotFound', details: { name: long } } })
    const object = await place.some()
    const { name } = object.metadata
    const escaped = `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`
    expect((await suite.ask(`${place.collection}/${escaped}`)).body).toEqual(object)
    const colon = await suite.ask(`${place.collection}/system%3Acontroller%40x`)
    expect(colon).toMatchObject({ code: 404, body: { details: { name: 'system:controller@x' } } })
  })

  must(26, 'is indented for curl and on demand, and the same JSON', async () => {
    const place = await subject.place()
    const object = await place.some()
    const item = place.item(object)
    const read = async (query: string, agent: string) => {
      const answer = await suite.ask(item + query, { agent })
      expect(answer.body).toEqual(object)
      return answer.text
    }
    for (const text of [await read('', 'curl/8.5.0'), await read('?pretty=true', 'kubectl/v1.33.0')]) {
      expect(text).toMatch(/^\{\n {2}"/)
    }
    for (const text of [await read('', 'kubectl/v1.33.0'), await read('?pretty=false', 'curl/8.5.0')]) {
      expect(text.trimEnd()).not.toContain('\n')
    }
  })
})

type Column = { readonly name: string; readonly format: string; readonly priority: number }
type Row = { readonly cells: readonly unknown[] }

suite.every(isStored, subject => {
  must(15, 'has the token of the next page in its Table', async () => {
    const place = await subject.place()
    await place.make()
    await place.make()
    const page = async (query: string) =>
      (await suite.ask(`${place.collection}?${place.selector}&limit=1${query}`, { accept: asTable })).body
    const first = await page('')
    expect(first.rows).toHaveLength(1)
    const rows = [...first.rows]
    for (let token = first.metadata.continue; token; ) {
      expect(token).toMatch(/^[-\w]+$/)
      const next = await page(`&continue=${token}`)
      expect(next.metadata.resourceVersion).toBe(first.metadata.resourceVersion)
      rows.push(...next.rows)
      token = next.metadata.continue
    }
    expect(new Set(rows.map(({ object }) => object.metadata.name)).size).toBe(2)
  })

  must(25, 'is served in one namespace and in all, and created in one only', async () => {
    const [here, there] = [await subject.place(), await subject.place()]
    const [mine, other] = [await here.make(), await there.make()]
    const all = (await suite.ask(subject.collection())).body
    expect(all.items).toEqual(expect.arrayContaining([mine, other]))
    const inOne: readonly KubeObject[] = (await suite.ask(here.collection)).body.items
    if (subject.isNamespaced) expect(inOne).toEqual([mine])
    const watch = await subject.open(
      `${subject.collection()}?watch=1&resourceVersion=${all.metadata.resourceVersion}`,
    )
    const later = await here.make()
    expect(JSON.parse((await watch.line()) ?? '')).toEqual({ type: 'ADDED', object: later })
    watch.cancel()
    const refused = await suite.ask(subject.collection(), { method: 'POST', body: here.sample() })
    if (subject.isNamespaced)
      expect(refused).toMatchObject({ code: 405, body: status(405, 'MethodNotAllowed') })
    else expect(refused.code).toBe(201)
  })
})

suite.every(isServed, subject => {
  must(20, 'has a Status for every way to go wrong, with the code of the answer', async () => {
    const place = await subject.place()
    const item = `${place.collection}/not.there`
    const wrong: readonly (readonly [string, Ask])[] = [
      [item, { method: 'PROPFIND' }],
      [`${item}/nothing`, {}],
      [`${place.collection}?timeout=soon`, {}],
      [place.collection, { method: 'POST', body: '{' }],
      [place.collection, { method: 'POST', body: 'x', type: 'text/plain' }],
      [place.collection, { method: 'POST', body: '{}', accept: 'text/html' }],
      [place.collection, { method: 'PUT', body: '{}' }],
      [`${subject.root()}/nothing`, {}],
    ]
    for (const [path, ask] of wrong) {
      const { code, body, headers } = await suite.ask(path, ask)
      expect(headers['content-type']).toBe(json)
      expect(code).toBeGreaterThanOrEqual(400)
      expect(code).toBeLessThan(500)
      expect(body).toMatchObject(status(code, body.reason))
      expect(body.reason).toMatch(/^[A-Z][A-Za-z]+$/)
    }
  })
})
