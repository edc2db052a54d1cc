/** JSON patches that change very much, or the same thing over and over. */
import {
  aConfigMap,
  aWidget,
  base36,
  configMaps,
  type Heavy,
  jsonPatch,
  list,
  making,
  manyKeys,
  maxBytes,
  spaces,
  widgets,
} from './heavy.ts'

export const patches: readonly Heavy[] = [
  jsonPatch(
    'JSON patch: insert at the front of a long list',
    `${widgets}/patched`,
    () => JSON.stringify(list(10_000).map(() => ({ op: 'add', path: '/spec/extra/list/0', value: 1 }))),
    making(widgets, aWidget({ extra: { list: list(70_000) } })),
  ),
  jsonPatch(
    'JSON patch: remove the first of a long list',
    `${widgets}/patched`,
    () => JSON.stringify(list(10_000).map(() => ({ op: 'remove', path: '/spec/extra/list/0' }))),
    making(widgets, aWidget({ extra: { list: list(70_000) } })),
  ),
  jsonPatch(
    'JSON patch: move the first of a long list to its end',
    `${widgets}/patched`,
    () =>
      JSON.stringify(
        list(10_000).map(() => ({ op: 'move', from: '/spec/extra/list/0', path: '/spec/extra/list/-' })),
      ),
    making(widgets, aWidget({ extra: { list: list(70_000) } })),
  ),
  jsonPatch(
    'JSON patch: copy what was copied',
    `${widgets}/patched`,
    () => JSON.stringify(list(40).map(i => ({ op: 'copy', from: '/spec/extra', path: `/spec/extra/c${i}` }))),
    making(widgets, aWidget({ extra: { a: 'x' } })),
  ),
  jsonPatch(
    'JSON patch: copy a big value many times',
    `${widgets}/patched`,
    () =>
      JSON.stringify(
        list(9_999).map(i => ({ op: 'copy', from: '/spec/extra/a', path: `/spec/extra/c${i}` })),
      ),
    making(widgets, aWidget({ extra: { a: list(50) } })),
  ),
  jsonPatch(
    'JSON patch: test a big value many times',
    `${widgets}/patched`,
    () =>
      JSON.stringify(list(10_000).map(() => ({ op: 'test', path: '/spec/extra/list', value: [1] }))).replace(
        '"value":[1]',
        `"value":${JSON.stringify(list(70_000))}`,
      ),
    making(widgets, aWidget({ extra: { list: list(70_000) } })),
  ),
  jsonPatch(
    'JSON patch: test equal values',
    `${widgets}/patched`,
    () => JSON.stringify(list(150).map(() => ({ op: 'test', path: '/spec/extra/list', value: list(4_000) }))),
    making(widgets, aWidget({ extra: { list: list(4_000) } })),
  ),
  jsonPatch(
    'JSON patch: replace the whole',
    `${widgets}/patched`,
    () =>
      JSON.stringify(list(10_000).map(() => ({ op: 'replace', path: '', value: aWidget({}) }))).slice(
        0,
        maxBytes,
      ),
    making(widgets, aWidget({})),
  ),
  jsonPatch(
    'JSON patch: add big values',
    `${widgets}/patched`,
    fill =>
      fill('[', i => `{"op":"add","path":"/spec/extra","value":${JSON.stringify(list(100 + (i % 7)))}}`, ']'),
    making(widgets, aWidget({ extra: {} })),
  ),
  jsonPatch(
    'JSON patch: many operations',
    `${widgets}/patched`,
    fill => fill('[', () => '{}', ']'),
    making(widgets, aWidget({})),
  ),
  jsonPatch(
    'JSON patch: a long path',
    `${widgets}/patched`,
    () => `[{"op":"add","path":"${'/a'.repeat(maxBytes / 2 - 50)}","value":1}]`,
    making(widgets, aWidget({})),
  ),
  jsonPatch(
    'JSON patch: long paths with escapes',
    `${widgets}/patched`,
    fill => fill('[', () => `{"op":"test","path":"/spec/extra/${'~1~0'.repeat(70)}","value":null}`, ']'),
    making(widgets, aWidget({ extra: {} })),
  ),
  jsonPatch(
    'JSON patch: many deep paths',
    `${widgets}/patched`,
    fill => fill('[', () => `{"op":"test","path":"/spec/extra${'/a'.repeat(140)}","value":null}`, ']'),
    making(widgets, aWidget({ extra: {} })),
  ),
  jsonPatch(
    'JSON patch: ever deeper',
    `${widgets}/patched`,
    () =>
      JSON.stringify(list(1_400).map(i => ({ op: 'add', path: `/spec/extra${'/a'.repeat(i)}`, value: {} }))),
    making(widgets, aWidget({ extra: {} })),
  ),
  jsonPatch(
    'JSON patch: add to a long list in the middle, of objects',
    `${spaces}/patched`,
    () =>
      JSON.stringify(list(10_000).map(i => ({ op: 'add', path: '/spec/parts/5', value: { name: `n${i}` } }))),
    making(spaces, {
      apiVersion: 'v1',
      kind: 'Space',
      metadata: { name: 'patched' },
      spec: { parts: list(9_000).map(i => ({ name: `p${i}` })) },
    }),
  ),
  jsonPatch(
    'JSON patch: add keys',
    `${configMaps}/patched`,
    () => JSON.stringify(list(10_000).map(i => ({ op: 'add', path: `/data/${base36(i)}`, value: 'x' }))),
    making(configMaps, aConfigMap(manyKeys(10_000))),
  ),
]
