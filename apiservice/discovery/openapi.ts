/** `/openapi/v2` and `/openapi/v3`, in JSON: the protobuf forms are refused with 406, and clients go on with JSON. */
import { groupsOf, versionsOf } from '../../src/api/derive/discovery.ts'
import { openapiV2 } from '../../src/api/derive/openapi-v2.ts'
import { openapiV3, openapiV3Key } from '../../src/api/derive/openapi-v3.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import { notAcceptable } from '../../src/kernel/errors.ts'
import type { ApiRequest } from '../contract.ts'
import { type Answer, acceptsJson, type Document, documentReply, once, toDocument } from './document.ts'

const headers = { 'content-type': 'application/json', vary: 'Accept' }

/** Answers by path. Documents are made when they are first asked for, since most servers are never asked. */
export function openApiAnswers(kinds: readonly AnyKind[]): readonly (readonly [string, Answer])[] {
  const documents = new Map(
    groupVersions(kinds).map(({ key, make }) => [key, once(() => toDocument(make()))]),
  )
  const index = once(() => toDocument({ paths: indexPaths(documents) }))
  const v2 = once(() => toDocument(openapiV2(kinds)))
  return [
    ['/openapi/v2', jsonOnly(request => documentReply(request, v2(), headers))],
    ['/openapi/v3', jsonOnly(request => documentReply(request, index(), headers))],
    ...[...documents].map(
      ([key, document]) =>
        [`/openapi/v3/${key}`, jsonOnly(request => versioned(request, document()))] as const,
    ),
  ]
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
