/** Patches of the other types that speak of very many keys or items. */
import {
  aConfigMap,
  aWidget,
  base36,
  configMaps,
  type Heavy,
  list,
  making,
  manyKeys,
  mergePatch,
  spaces,
  strategic,
  widgets,
} from './heavy.ts'

export const merges: readonly Heavy[] = [
  mergePatch(
    'merge patch: keys',
    `${configMaps}/patched`,
    fill => fill('{"data":{', i => `"${base36(i)}":"x"`, '}}'),
    making(configMaps, aConfigMap()),
  ),
  mergePatch(
    'merge patch: nulls',
    `${configMaps}/patched`,
    fill => fill('{"data":{', i => `"${base36(i)}":null`, '}}'),
    making(configMaps, aConfigMap(manyKeys(26_000))),
  ),
  mergePatch(
    'merge patch: deep',
    `${widgets}/patched`,
    () => `{"spec":{"extra":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}}}`,
    making(widgets, aWidget({})),
  ),
  strategic(
    'strategic: many items',
    `${spaces}/patched`,
    fill => fill('{"spec":{"parts":[', i => `{"name":"${base36(i)}"}`, ']}}'),
    making(spaces, {
      apiVersion: 'v1',
      kind: 'Space',
      metadata: { name: 'patched' },
      spec: { parts: list(9_000).map(i => ({ name: base36(i) })) },
    }),
  ),
  strategic(
    'strategic: delete many items',
    `${spaces}/patched`,
    fill => fill('{"spec":{"parts":[', i => `{"$patch":"delete","name":"${base36(i)}"}`, ']}}'),
    making(spaces, {
      apiVersion: 'v1',
      kind: 'Space',
      metadata: { name: 'patched' },
      spec: { parts: list(9_000).map(i => ({ name: base36(i) })) },
    }),
  ),
  strategic(
    'strategic: order of many items',
    `${spaces}/patched`,
    fill => fill('{"spec":{"$setElementOrder/parts":[', i => `{"name":"${base36(i)}"}`, ']}}'),
    making(spaces, {
      apiVersion: 'v1',
      kind: 'Space',
      metadata: { name: 'patched' },
      spec: { parts: list(9_000).map(i => ({ name: base36(i) })) },
    }),
  ),
  strategic(
    'strategic: words',
    `${spaces}/patched`,
    fill => fill('{"spec":{"words":[', i => `"${base36(i)}"`, ']}}'),
    making(spaces, {
      apiVersion: 'v1',
      kind: 'Space',
      metadata: { name: 'patched' },
      spec: { words: list(9_000).map(base36) },
    }),
  ),
  strategic(
    'strategic: words that go',
    `${spaces}/patched`,
    fill => fill('{"spec":{"$deleteFromPrimitiveList/words":[', i => `"${base36(i)}"`, ']}}'),
    making(spaces, {
      apiVersion: 'v1',
      kind: 'Space',
      metadata: { name: 'patched' },
      spec: { words: list(9_000).map(base36) },
    }),
  ),
  strategic(
    'strategic: retainKeys',
    `${spaces}/patched`,
    fill =>
      fill(
        `{${list(20_000)
          .map(i => `"a${base36(i)}":1`)
          .join(',')},"$retainKeys":[`,
        i => `"a${base36(i)}"`,
        ']}',
      ),
    making(spaces, { apiVersion: 'v1', kind: 'Space', metadata: { name: 'patched' } }),
  ),
]
