/** Documents with very much of one thing. */
import {
  base36,
  configMapHead,
  configMaps,
  exports,
  type Fill,
  type Heavy,
  maxBytes,
  post,
  strict,
  widgetHead,
  widgets,
} from './heavy.ts'

export const documents: readonly Heavy[] = [
  post('keys of a ConfigMap', configMaps, fill => fill(configMapHead, i => `"${base36(i)}":""`, '}}')),
  post('a ConfigMap of one MiB', configMaps, fill =>
    fill(configMapHead, i => `"${base36(i)}":""`, '}}', 1024 * 1024),
  ),
  post('numbers where text should be', configMaps, fill =>
    fill(configMapHead, i => `"${base36(i)}":1`, '}}'),
  ),
  post('nested lists', configMaps, () => '['.repeat(maxBytes)),
  post('nested lists that end', configMaps, () => '['.repeat(maxBytes / 2) + ']'.repeat(maxBytes / 2)),
  post(
    'many deep lists',
    widgets,
    (fill: Fill) =>
      `${widgetHead}"extra":{"a":${fill('[', () => '['.repeat(900) + ']'.repeat(900), ']', maxBytes - 200)}}}}`,
  ),
  post('nested objects', widgets, () => `${widgetHead}"extra":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}}`),
  post('one key over and over', configMaps, fill => fill(configMapHead, () => '"a":""', '}}')),
  post('one key over and over, Strict', configMaps + strict, fill =>
    fill(configMapHead, () => '"a":""', '}}'),
  ),
  post('many keys, each twice', configMaps + strict, fill =>
    fill(configMapHead, i => `"${base36(i)}":"","${base36(i)}":""`, '}}'),
  ),
  post('many keys with escapes, each twice', configMaps + strict, fill =>
    fill(configMapHead, i => `"\\u0061${base36(i)}":"","a${base36(i)}":""`, '}}'),
  ),
  post(
    'duplicate keys deep inside',
    widgets + strict,
    () => `${widgetHead}"extra":${'{"a":1,"a":'.repeat(9000)}1${'}'.repeat(9000)}}}`,
  ),
  post('unknown fields, Strict', exports + strict, fill =>
    fill(
      '{"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ServiceExport","metadata":{"name":"heavy"},"spec":{',
      i => `"${base36(i)}":1`,
      '}}',
    ),
  ),
  post('unknown fields, Ignore', `${exports}?fieldValidation=Ignore`, fill =>
    fill(
      '{"apiVersion":"multicluster.x-k8s.io/v1alpha1","kind":"ServiceExport","metadata":{"name":"heavy"},"spec":{',
      i => `"${base36(i)}":1`,
      '}}',
    ),
  ),
  post('unknown fields in metadata', configMaps + strict, fill =>
    fill('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy",', i => `"${base36(i)}":1`, '}}'),
  ),
  post('long numbers', widgets, fill =>
    fill(`${widgetHead}"extra":{"a":[`, i => `${9007199254740993n + BigInt(i)}`, ']}}}'),
  ),
  post('one long number', widgets, () => `${widgetHead}"extra":{"a":${'9'.repeat(maxBytes - 200)}}}}`),
  post('long fractions', widgets, fill =>
    fill(`${widgetHead}"extra":{"a":[`, () => `0.${'123456789'.repeat(80)}`, ']}}}'),
  ),
  post('floats', widgets, fill => fill(`${widgetHead}"extra":{"a":[`, i => `${i}.5e10`, ']}}}')),
  post('small numbers', widgets, fill => fill(`${widgetHead}"extra":{"a":[`, () => '1', ']}}}')),
  post('small objects', widgets, fill => fill(`${widgetHead}"extra":{"a":[`, () => '{"a":1}', ']}}}')),
  post('empty objects', widgets, fill => fill(`${widgetHead}"extra":{"a":[`, () => '{}', ']}}}')),
  post('free keys', widgets, fill => fill(`${widgetHead}"extra":{`, i => `"${base36(i)}":1`, '}}}')),
  post('free keys that are stored', widgets, fill =>
    fill(`${widgetHead}"extra":{`, i => `"${base36(i)}":1`, '}}}', 700_000),
  ),
  post('distinct tags', widgets, fill => fill(`${widgetHead}"tags":[`, i => `"${base36(i)}"`, ']}}')),
  post('distinct tags that are stored', widgets, fill =>
    fill(`${widgetHead}"tags":[`, i => `"${base36(i)}"`, ']}}', 700_000),
  ),
  post('one tag', widgets, fill => fill(`${widgetHead}"tags":[`, () => '"a"', ']}}')),
  post('settings', widgets, fill => fill(`${widgetHead}"settings":{`, i => `"${base36(i)}":"x"`, '}}')),
  post('half pairs of surrogates', configMaps, fill =>
    fill(configMapHead, i => `"${base36(i)}":"\\ud800\\udbff"`, '}}'),
  ),
  post('escapes', configMaps, () => `${configMapHead}"a":"${'\\"'.repeat(maxBytes / 2 - 100)}"}}`),
  post('backslashes', configMaps, () => `${configMapHead}"a":"${'\\\\'.repeat(maxBytes / 2 - 100)}"}}`),
  post('an unterminated string', configMaps, () => `${configMapHead}"a":"${'x'.repeat(maxBytes - 100)}`),
  post('white space', configMaps, () => `${' '.repeat(maxBytes - 1)}?`),
  post('a late fault', configMaps, () => `[${'1,'.repeat(maxBytes / 2 - 2)}?]`),
  post('a fault within reach', configMaps, () => `[${'1,'.repeat(32_000)}?]`),
]
