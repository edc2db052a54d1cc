// What a client sends is read beside what is known of the object: it has to be what parsing the whole would say.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readLike } from '../../../../apiservice/registry/known-fields.ts'
import type { KubeObject } from '../../../../src/api/meta.ts'
import { parseJson } from '../../../../src/codec/json.ts'
import { KnownBody } from '../../../../src/codec/known-body.ts'
import { decodeBody, encodeBody } from '../../../../src/codec/object-bytes.ts'

const object = {
  apiVersion: 'g/v1',
  kind: 'Foo',
  metadata: { name: 'web', labels: { app: 'shop', tier: 'back' }, annotations: { note: '"}{,\\', n: '1' } },
  spec: { ports: [{ port: 80 }], size: 1, deep: { er: { est: [1, 2] } } },
  status: { phase: 'Ready' },
} satisfies KubeObject

function knownOf(from: KubeObject): KnownBody {
  const body = encodeBody(from)
  return new KnownBody(decodeBody(from.apiVersion, from.kind, { revision: 7, body }), body)
}

function read(text: string, known = knownOf(object)) {
  return { known, value: readLike(known, Buffer.from(text)) }
}

const sent = { ...object, metadata: { ...object.metadata, resourceVersion: '7' } }

describe('what is as it was', () => {
  it('is taken from there, whatever the order of the fields and the space between them', () => {
    const reversed = Object.fromEntries(Object.entries(sent).toReversed())
    for (const text of [
      JSON.stringify(sent),
      JSON.stringify(reversed),
      ` \n${JSON.stringify(sent, undefined, 2)}\t`,
    ]) {
      const { known, value } = read(text)
      expect(value).toEqual(sent)
      expect(value?.metadata).toBe(known.object.metadata)
      expect(value?.spec).toBe(known.object.spec)
    }
  })

  it('is taken from there beside what has changed, at any depth', () => {
    const deep = { ...Object(sent.spec), deep: { er: { est: [1, 2, 3] } } }
    const { known, value } = read(
      JSON.stringify({
        ...sent,
        metadata: { ...sent.metadata, annotations: { ...sent.metadata.annotations, n: '2' } },
        spec: deep,
      }),
    )
    expect(value?.spec).toEqual(deep)
    expect(value?.metadata).toEqual({
      ...sent.metadata,
      annotations: { note: '"}{,\\', n: '2' },
    })
    expect(Object(value?.metadata).labels).toBe(known.object.metadata.labels)
    expect(Object(value?.spec).ports).toBe(Object(known.object.spec).ports)
    expect(value?.status).toBe(known.object.status)
  })

  it('is the same without fields, and with more of them', () => {
    const { status: _status, ...fewer } = sent
    for (const body of [fewer, { ...sent, more: { a: [null, true, -1.5e3] } }, { ...sent, spec: null }]) {
      expect(read(JSON.stringify(body)).value).toEqual(body)
    }
  })
})

describe('is left to who parses the whole', () => {
  const whole = JSON.stringify(sent)
  it.each([
    ['nothing', ''],
    ['a list', '[]'],
    ['more behind it', `${whole}{}`],
    ['an end too early', whole.slice(0, -1)],
    ['no comma', whole.replace('},"spec"', '}"spec"')],
    ['no colon', whole.replace('"spec":', '"spec"')],
    ['a comma too many', whole.replace(/\}$/, ',}')],
    ['a comma at the beginning', whole.replace('{', '{,')],
    ['a key twice', whole.replace('{', '{"kind":"Foo",')],
    ['a key twice within', whole.replace('{"port":80}', '{"port":80,"port":81}')],
    ['a key twice in what is known', whole.replace('"labels":{', '"labels":{"tier":"back",')],
    ['a key with an escape', whole.replace('"spec"', '"\\u0073pec"')],
    ['metadata of another type', whole.replace(/"metadata":\{.*\},"spec"/, '"metadata":[],"spec"')],
    ['a wrong bracket', whole.replace('[{"port":80}]', '[{"port":81]}')],
    ['a bare word', whole.replace('"Ready"', 'Ready')],
    ['a number that goes on', whole.replace('"size":1', '"size":1x')],
    ['a control character', whole.replace('Ready', 'Re\nady')],
    ['too long', whole.replace('Ready', 'x'.repeat(33_000))],
    ['a value that may be too deep', whole.replace('80', `${'['.repeat(3000)}${']'.repeat(3000)}`)],
  ])('%s', (_what, text) => {
    expect(read(text).value).toBeUndefined()
  })

  it.each(['01', '1e400', '+1', '.5', '1.', 'NaN'])('what is no number: %s', number => {
    const text = whole.replace('"size":1', `"size":${number}`)
    expect(() => parseJson(text)).toThrow()
    expect(read(text).value).toBeUndefined()
  })

  it.each([
    ['a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(whole)])],
    ['a name beyond ASCII', Buffer.from(whole.replace('"phase"', '"phäse"'))],
    ['a name that is no Unicode', Buffer.from(whole.replace('"phase"', '"ph\u00e4se"'), 'latin1')],
  ])('%s', (_what, json) => {
    const value = readLike(knownOf(object), json)
    if (value !== undefined) expect(value).toEqual(parseJson(json).value)
  })

  it('objects whose own bodies are long', () => {
    const large = { ...object, spec: { ...object.spec, text: 'x'.repeat(33_000) } }
    expect(readLike(knownOf(large), Buffer.from(whole))).toBeUndefined()
  })

  it('objects whose own bodies are no simple ones', () => {
    const fields = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`f${n}`, n]))
    const odd = { ...object, ...fields }
    expect(readLike(knownOf(odd), Buffer.from(JSON.stringify(odd)))).toBeUndefined()
  })
})

it('one value that is no longer the same is not taken for one that begins like it', () => {
  for (const [from, to] of [
    ['"size":1', '"size":12'],
    ['"size":1', '"size":1.5'],
    ['"tier":"back"', '"tier":"backs"'],
  ] as const) {
    const text = JSON.stringify(sent).replace(from, to)
    expect(read(text).value).toEqual(JSON.parse(text))
  }
})

it.each(['-0', '1.0', '10e-1', '9223372036854775807', '9007199254740993', '-1E3', '"1"', 'null', 'true'])(
  'a number in another form is what parsing makes of it: %s',
  number => {
    const text = JSON.stringify(sent).replace('"size":1', `"size":${number}`)
    expect(read(text).value).toStrictEqual(parseJson(text).value)
  },
)

it('letters beyond ASCII, halves of pairs and bytes that are no Unicode are what parsing makes of them', () => {
  for (const text of ['"phäse"', '"\\ud800"', '"\\ud83d\\ude00"', '"😀"']) {
    const json = Buffer.from(JSON.stringify(sent).replace('"Ready"', text))
    expect(readLike(knownOf(object), json)).toStrictEqual(parseJson(json).value)
  }
  const latin1 = Buffer.from(JSON.stringify(sent).replace('"Ready"', '"ph\u00e4se"'), 'latin1')
  expect(readLike(knownOf(object), latin1)).toStrictEqual(parseJson(latin1).value)
})

it('apiVersion and kind are what the text says', () => {
  for (const [from, to] of [
    ['"g/v1"', '"g/v2"'],
    ['"g/v1"', '7'],
    ['"Foo"', '["Foo"]'],
  ] as const) {
    const text = JSON.stringify(sent).replace(from, to)
    expect(read(text).value).toStrictEqual(JSON.parse(text))
  }
})

it('what lies very deep is read as a whole', () => {
  const nested = (bottom: number): unknown =>
    Array.from({ length: 200 }).reduce<unknown>(inner => ({ a: inner }), bottom)
  const deep = { ...object, spec: { deep: nested(1) } }
  const text = JSON.stringify({ ...deep, spec: { deep: nested(2) } })
  expect(readLike(knownOf(deep), Buffer.from(text))).toEqual(JSON.parse(text))
})

it('a field of the known object that is undefined is not there', () => {
  const known = knownOf(object)
  Object.assign(known.object, { status: undefined })
  const { status: _status, ...others } = sent
  const text = JSON.stringify({ ...others, other: 1 })
  expect(readLike(known, Buffer.from(text))).toEqual(JSON.parse(text))
})

it('names that every record inherits are data', () => {
  const text = JSON.stringify(sent).replace(
    '"labels":{',
    '"labels":{"__proto__":"a","toString":"b","constructor":"c",',
  )
  expect(read(text).value).toStrictEqual(JSON.parse(text))
})

describe('any change of any object', () => {
  const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' })
  const record = fc.dictionary(fc.string({ maxLength: 4 }), json, { maxKeys: 5 })
  const kubeObject = fc.record({ labels: record, spec: record, status: json }).map(
    ({ labels, spec, status }): KubeObject => ({
      apiVersion: 'g/v1',
      kind: 'Foo',
      metadata: { name: 'web', labels } as KubeObject['metadata'],
      spec,
      status,
    }),
  )
  const spaces = fc.constantFrom(undefined, 1, '\t')

  it('reads as parsing does, or is left to it', () => {
    let answered = 0
    fc.assert(
      fc.property(kubeObject, kubeObject, fc.array(fc.boolean()), spaces, (before, after, changed, space) => {
        const mixed = mix(before, after, changed)
        const text = JSON.stringify(mixed, undefined, space)
        const known = knownOf(before)
        const json = Buffer.from(text)
        const value = readLike(known, json)
        if (value !== undefined) {
          answered += 1
          expect(value).toEqual(parseJson(json).value)
        }
        expect(known.object).toEqual(decodeBody('g/v1', 'Foo', { revision: 7, body: known.body }))
      }),
    )
    expect(answered).toBeGreaterThan(0)
  })

  it('with a damaged text reads as parsing does, or is left to it', () => {
    const damage = fc.record({ at: fc.nat(400), byte: fc.constantFrom(...'{}[],:"\\ 01.-eEna') })
    fc.assert(
      fc.property(kubeObject, damage, (before, { at, byte }) => {
        const text = JSON.stringify(before)
        const broken = text.slice(0, at) + byte + text.slice(at + 1)
        const json = Buffer.from(broken)
        const value = readLike(knownOf(before), json)
        if (value === undefined) return
        const whole = parseJson(json)
        expect([value, whole.duplicates]).toEqual([whole.value, []])
      }),
    )
  })
})

/** Some parts of the one, some of the other. */
function mix(before: KubeObject, after: KubeObject, changed: readonly boolean[]): KubeObject {
  const [meta = false, spec = false, status = false] = changed
  return {
    ...before,
    metadata: meta ? after.metadata : before.metadata,
    spec: spec ? { ...Object(before.spec), ...Object(after.spec) } : before.spec,
    status: status ? after.status : before.status,
  }
}
