/** Server-side apply of very many fields: fresh, again, and after others. */
import { apply, base36, configMaps, type Heavy, list, manyKeys, put, spaces } from './heavy.ts'

const most = 26_000
const configured = `${configMaps}/applied`
const aMap = (data: object, metadata: object = {}) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', ...metadata }, data })

/** A key less than a document may have, each with a value. */
const keys = (count = most, value = 'x') => Object.fromEntries(list(count).map(i => [base36(i), value]))

const applied = (manager: string, body: string) => ({
  path: `${configured}?fieldManager=${manager}&force=true`,
  call: { method: 'PATCH', headers: { 'content-type': 'application/apply-patch+yaml' }, body },
})

const updated = (manager: string, body: string) => ({
  path: `${configured}?fieldManager=${manager}`,
  call: { method: 'PUT', headers: { 'content-type': 'application/json' }, body },
})

const spaced = `${spaces}/applied`
/** As many as are told apart. */
const parts = list(10_000).map(i => ({ name: base36(i), count: i }))
const aSpace = (items: readonly object[]) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'Space', metadata: { name: 'applied' }, spec: { parts: items } })
const given = {
  path: `${spaced}?fieldManager=a`,
  call: { method: 'PATCH', headers: { 'content-type': 'application/apply-patch+yaml' }, body: aSpace(parts) },
}

const entry = (manager: string, operation: string, count: number) => ({
  manager,
  operation,
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': Object.fromEntries(list(count).map(i => [`f:${base36(i)}`, {}])) },
})

/** On an object that has managers. */
const again: readonly Heavy[] = [
  apply('apply: the same keys again', `${configured}?fieldManager=a`, () => aMap(keys()), [
    applied('a', aMap(keys())),
  ]),
  apply(
    'apply: the same keys with other values',
    `${configured}?fieldManager=a`,
    () => aMap(keys(most, 'y')),
    [applied('a', aMap(keys()))],
  ),
  apply('apply: none of the keys any more', `${configured}?fieldManager=a`, () => aMap({}), [
    applied('a', aMap(keys())),
  ]),
  apply('apply: half of the keys', `${configured}?fieldManager=a`, () => aMap(keys(most / 2)), [
    applied('a', aMap(keys())),
  ]),
  apply('apply: the keys of another', `${configured}?fieldManager=b`, () => aMap(keys()), [
    applied('a', aMap(keys())),
  ]),
  apply('apply: conflicts over all keys', `${configured}?fieldManager=b`, () => aMap(keys(most, 'y')), [
    applied('a', aMap(keys())),
  ]),
  apply(
    'apply: conflicts that are forced',
    `${configured}?fieldManager=b&force=true`,
    () => aMap(keys(most, 'y')),
    [applied('a', aMap(keys()))],
  ),
  apply(
    'apply: kubectl over what it applied before',
    `${configured}?fieldManager=kubectl`,
    () => aMap(keys(20_000, 'y')),
    [
      {
        path: `${configMaps}?fieldManager=kubectl-client-side-apply`,
        call: {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: aMap(keys(20_000), {
            annotations: { 'kubectl.kubernetes.io/last-applied-configuration': aMap(keys(20_000)) },
          }),
        },
      },
    ],
  ),
  apply('apply: after an update', `${configured}?fieldManager=a`, () => aMap(keys()), [
    applied('a', aMap({})),
    updated('b', aMap(keys())),
  ]),
  put('update: keys of an applier', `${configured}?fieldManager=b`, () => aMap(keys(most, 'y')), [
    applied('a', aMap(keys())),
  ]),
  put('update: nothing of an applier', `${configured}?fieldManager=b`, () => aMap(manyKeys(1)), [
    applied('a', aMap(keys())),
  ]),
  put(
    'update: managers of very many fields',
    `${configured}?fieldManager=b`,
    () =>
      aMap(keys(2_000, 'y'), { managedFields: [entry('a', 'Apply', 9_000), entry('c', 'Update', 9_000)] }),
    [applied('a', aMap(keys(9_000)))],
  ),
  put(
    'update: very many fields that are not there',
    `${configured}?fieldManager=b`,
    () => aMap({}, { managedFields: [entry('a', 'Update', 19_000)] }),
    [applied('a', aMap(keys()))],
  ),
]

const fresh: readonly Heavy[] = [
  apply('apply: keys', `${configMaps}/applied?fieldManager=a`, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{',
      i => `"${base36(i)}":"x"`,
      '}}',
    ),
  ),
  apply('apply: keys that are stored', `${configMaps}/applied?fieldManager=a`, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"applied"},"data":{',
      i => `"${base36(i)}":"x"`,
      '}}',
      600_000,
    ),
  ),
  apply('apply: items', `${spaces}/applied?fieldManager=a`, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Space","metadata":{"name":"applied"},"spec":{"parts":[',
      i => `{"name":"${base36(i)}"}`,
      ']}}',
    ),
  ),
  apply('apply: items that are stored', `${spaced}?fieldManager=a`, () => aSpace(parts)),
  apply('apply: the same items again', `${spaced}?fieldManager=a`, () => aSpace(parts), [given]),
  apply('apply: the same items reversed', `${spaced}?fieldManager=a`, () => aSpace(parts.toReversed()), [
    given,
  ]),
  apply(
    'apply: items with conflicts',
    `${spaced}?fieldManager=b`,
    () => aSpace(parts.map(part => ({ ...part, count: -1 }))),
    [given],
  ),
  apply('apply: one key', `${spaces}/applied?fieldManager=a`, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Space","metadata":{"name":"applied"},"spec":{"parts":[',
      () => '{"name":"a"}',
      ']}}',
    ),
  ),
  apply('apply: words', `${spaces}/words?fieldManager=a`, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Space","metadata":{"name":"words"},"spec":{"words":[',
      i => `"${base36(i)}"`,
      ']}}',
    ),
  ),
  apply('apply: unknown fields', `${spaces}/applied?fieldManager=a`, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Space","metadata":{"name":"applied"},"spec":{',
      i => `"${base36(i)}":1`,
      '}}',
    ),
  ),
]

export const applies: readonly Heavy[] = [...fresh, ...again]
