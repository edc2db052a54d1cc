import { expect, it } from 'vitest'
import { choicesOf } from '../../../../apiservice/negotiation/accept.ts'

const shown = (accept: string | undefined) =>
  choicesOf(accept).map(({ format, transform, pretty }) =>
    [
      format,
      ...(transform === undefined ? [] : [transform.as, transform.version]),
      ...(pretty ? ['pretty'] : []),
    ].join(' '),
  )

const kubectlGet =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'
const metadataClient =
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'

it.each([
  [undefined, ['json']],
  ['', ['json']],
  ['*/*', ['json']],
  ['application/*', ['json']],
  ['application/json', ['json']],
  ['application/yaml', ['yaml']],
  ['application/json;stream=watch', ['json']],
  ['application/json;charset=utf-8;profile=x', ['json']],
  ['application/json;pretty=1', ['json pretty']],
  ['application/yaml;q=0.5,application/json;q=0.9', ['json', 'yaml']],
  ['application/vnd.kubernetes.protobuf,application/json', ['json']],
  ['application/vnd.kubernetes.protobuf, */*', ['json']],
  ['application/vnd.kubernetes.protobuf', []],
  ['text/html', []],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', ['json']],
  [kubectlGet, ['json Table v1', 'json Table v1beta1', 'json']],
  [metadataClient, ['json PartialObjectMetadata v1', 'json']],
  ['application/yaml;as=Table;v=v1;g=meta.k8s.io', ['yaml Table v1']],
  ['application/json;as=Chair;g=meta.k8s.io;v=v1', []],
  ['application/json;as=Table;g=other.io;v=v1', []],
  ['application/json;as=Table;g=meta.k8s.io;v=v2', []],
  ['application/json;as=Table', []],
  ['application/json;as=toString;g=meta.k8s.io;v=v1', []],
])('%s may be answered as %j', (accept, expected) => {
  expect(shown(accept)).toEqual(expected)
  expect(shown(accept)).toEqual(expected)
})
