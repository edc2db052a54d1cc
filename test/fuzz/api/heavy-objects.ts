/** Objects whose kind has to look at very many parts of them. */
import {
  base36,
  configMapHead,
  configMaps,
  type Heavy,
  maxBytes,
  post,
  roles,
  services,
  slices,
  spaces,
} from './heavy.ts'

export const objects: readonly Heavy[] = [
  post('labels', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","labels":{',
      i => `"${base36(i)}":"x"`,
      '}}}',
    ),
  ),
  post('bad labels', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","labels":{',
      i => `"-${base36(i)}":"-"`,
      '}}}',
    ),
  ),
  post('annotations', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","annotations":{',
      i => `"${base36(i)}":"x"`,
      '}}}',
    ),
  ),
  post('annotations that are not text', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","annotations":{',
      i => `"${base36(i)}":{}`,
      '}}}',
    ),
  ),
  post('finalizers', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","finalizers":[',
      i => `"a/${base36(i)}"`,
      ']}}',
    ),
  ),
  post('bad finalizers', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","finalizers":[',
      i => `"${base36(i)}"`,
      ']}}',
    ),
  ),
  post('owners', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","ownerReferences":[',
      i => `{"apiVersion":"v1","kind":"A","name":"a","uid":"${base36(i)}"}`,
      ']}}',
    ),
  ),
  post('empty owners', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","ownerReferences":[',
      () => '{}',
      ']}}',
    ),
  ),
  post('managedFields', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","managedFields":[{"manager":"a","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{',
      i => `"f:${base36(i)}":{}`,
      '}}}]}}',
    ),
  ),
  post('many managers', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","managedFields":[',
      i =>
        `{"manager":"${base36(i)}","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}`,
      ']}}',
    ),
  ),
  post('many appliers', configMaps, fill =>
    fill(
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","managedFields":[',
      i =>
        `{"manager":"${base36(i)}","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:a":{}}}}`,
      ']}}',
    ),
  ),
  post(
    'deep managedFields',
    configMaps,
    () =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"heavy","managedFields":[{"manager":"a","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":${'{"f:a":'.repeat(9000)}{}${'}'.repeat(9000)}}]}}`,
  ),
  post('endpoints', slices, fill =>
    fill(
      '{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"heavy"},"addressType":"IPv4","endpoints":[',
      i => `{"addresses":["10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}"]}`,
      '],"ports":[]}',
    ),
  ),
  post('addresses of one endpoint', slices, fill =>
    fill(
      '{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"name":"heavy"},"addressType":"IPv4","endpoints":[{"addresses":[',
      i => `"10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}"`,
      ']}],"ports":[]}',
    ),
  ),
  post('ports of a Service', services, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Service","metadata":{"name":"heavy"},"spec":{"ports":[',
      i => `{"name":"p${base36(i)}","port":${1 + (i % 65535)}}`,
      ']}}',
    ),
  ),
  post('same ports of a Service', services, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Service","metadata":{"name":"heavy"},"spec":{"ports":[',
      () => '{"port":1}',
      ']}}',
    ),
  ),
  post('selector of a Service', services, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Service","metadata":{"name":"heavy"},"spec":{"ports":[{"port":1}],"selector":{',
      i => `"${base36(i)}":"x"`,
      '}}}',
    ),
  ),
  post('external IPs of a Service', services, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Service","metadata":{"name":"heavy"},"spec":{"ports":[{"port":1}],"externalIPs":[',
      i => `"${base36(i)}"`,
      ']}}',
    ),
  ),
  post('rules of a Role', roles, fill =>
    fill(
      '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"heavy"},"rules":[',
      () => '{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}',
      ']}',
    ),
  ),
  post('verbs of a rule', roles, fill =>
    fill(
      '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{"name":"heavy"},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":[',
      i => `"${base36(i)}"`,
      ']}]}',
    ),
  ),
  post('parts of a Space', spaces, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Space","metadata":{"name":"heavy"},"spec":{"parts":[',
      i => `{"name":"${base36(i)}"}`,
      ']}}',
    ),
  ),
  post('parts of a Space that are stored', spaces, fill =>
    fill(
      '{"apiVersion":"v1","kind":"Space","metadata":{"name":"heavy"},"spec":{"parts":[',
      i => `{"name":"${base36(i)}"}`,
      ']}}',
      700_000,
    ),
  ),
  post('zeros', configMaps, () => Buffer.alloc(maxBytes)),
  post('bytes that are no text', configMaps, () => Buffer.alloc(maxBytes, 0xff)),
  post(
    'text of three bytes each',
    configMaps,
    () => `${configMapHead}"a":"${'\u20ac'.repeat(maxBytes / 3 - 100)}"}}`,
  ),
]
