/**
 * `/openapi/v2` in JSON and as the protobuf that kubectl insists on, `/openapi/v3` in JSON: its protobuf form is refused
 * with 406, and clients go on with JSON.
 */
import { groupsOf, versionsOf } from '../../src/api/derive/discovery.ts'
import { openapiV2 } from '../../src/api/derive/openapi-v2.ts'
import { openapiV2Protobuf, openapiV2ProtobufMediaType } from '../../src/api/derive/openapi-v2-protobuf.ts'
import { openapiV3, openapiV3Key } from '../../src/api/derive/openapi-v3.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import { notAcceptable } from '../../src/kernel/errors.ts'
import type { ApiRequest } from '../contract.ts'
import {
  type Answer,
  acceptsJson,
  clausesOf,
  type Document,
  documentReply,
  isPlainJson,
  once,
  toDocument,
  withTag,
} from './document.ts'

const headers = { 'content-type': 'application/json', vary: 'Accept' }

/** Answers by path. Documents are made when they are first asked for, since most servers are never asked. */
export function openApiAnswers(kinds: readonly AnyKind[]): readonly (readonly [string, Answer])[] {
  const documents = new Map(
    groupVersions(kinds).map(({ key, make }) => [key, once(() => toDocument(make()))]),
  )
  const index = once(() => toDocument({ paths: indexPaths(documents) }))
  return [
    ['/openapi/v2', v2Answer(kinds)],
    ['/openapi/v3', jsonOnly(request => documentReply(request, index(), headers))],
    ...[...documents].map(
      ([key, document]) =>
        [`/openapi/v3/${key}`, jsonOnly(request => versioned(request, document()))] as const,
    ),
  ]
}

const protobufHeaders = { ...headers, 'content-type': openapiV2ProtobufMediaType }

/** The media type and how clients before 1.27 spell it. */
const protobufTypes: ReadonlySet<string> = new Set([
  openapiV2ProtobufMediaType,
  openapiV2ProtobufMediaType.replace('.v1.0+', '@v1.0+'),
])

function v2Answer(kinds: readonly AnyKind[]): Answer {
  const json = once(() => toDocument(openapiV2(kinds)))
  const protobuf = once(() => withTag(openapiV2Protobuf(openapiV2(kinds))))
  return request => {
    for (const clause of clausesOf(request)) {
      if (protobufTypes.has(clause.type)) return documentReply(request, protobuf(), protobufHeaders)
      if (isPlainJson(clause)) return documentReply(request, json(), headers)
    }
    throw notAcceptable(['application/json', openapiV2ProtobufMediaType])
  }
}

function groupVersions(kinds: readonly AnyKind[]): readonly { key: string; make: () => unknown }[] {
  return ['', ...groupsOf(kinds)].flatMap(group =>
    versionsOf(kinds, group).map(version => ({
      key: openapiV3Key(group, version),
      make: () => openapiV3(kinds, group, version),
    })),
  )
}

function indexPaths(documents: ReadonlyMap<string, () => Document>) {
  const entries = [...documents].map(([key, document]) => [
    key,
    { serverRelativeURL: `/openapi/v3/${key}?hash=${document().hash}` },
  ])
  return Object.fromEntries(entries)
}

/** Under its hash a document never changes; without, or with an old hash, the newest is answered. */
function versioned(request: ApiRequest, document: Document) {
  if (request.query.get('hash') !== document.hash) return documentReply(request, document, headers)
  return documentReply(request, document, {
    ...headers,
    'cache-control': 'public, immutable, max-age=31536000',
  })
}

function jsonOnly(answer: Answer): Answer {
  return request => {
    if (!acceptsJson(request)) throw notAcceptable(['application/json'])
    return answer(request)
  }
}
