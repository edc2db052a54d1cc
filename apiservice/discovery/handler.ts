/**
 * Discovery: says what is served, in documents derived from the kinds and made once. Owns `/`, `/api`, `/apis` and
 * below them groups and versions, `/openapi` and `/version`; promises to answer from memory, since an aggregator takes
 * `/apis/<group>/<version>` for the sign that this server is there.
 */
import {
  apiGroup,
  apiGroupDiscoveryList,
  apiGroupList,
  apiResourceList,
  apiVersions,
  groupsOf,
  versionsOf,
} from '../../src/api/derive/discovery.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import { byText } from '../../src/api/order.ts'
import type { AcceptClause } from '../../src/codec/accept.ts'
import { methodNotAllowed, notAcceptable } from '../../src/kernel/errors.ts'
import type { ApiRequest, Reply } from '../contract.ts'
import {
  type Answer,
  acceptsJson,
  clausesOf,
  documentReply,
  isJson,
  isPlainJson,
  jsonReply,
  once,
  toDocument,
} from './document.ts'
import { openApiAnswers } from './openapi.ts'
import { versionInfo } from './version.ts'

export type DiscoveryOptions = {
  readonly kinds: readonly AnyKind[]
  /** `host:port`, as clients of any network may use it. */
  serverAddress(): string
  /** Paths of others, for the index. */
  readonly otherPaths: readonly string[]
}

/** Answers a path of discovery, or undefined for any other. */
export type DiscoveryHandler = (request: ApiRequest) => Reply | undefined

export function makeDiscovery(options: DiscoveryOptions): DiscoveryHandler {
  const { kinds } = options
  const answers = new Map<string, Answer>([
    ['/apis', aggregatable(kinds, 'groups', () => apiGroupList(kinds))],
    ['/version', plain(() => versionInfo)],
    ...groupAnswers(kinds),
    ...coreAnswers(options),
    ...openApiAnswers(kinds),
  ])
  const index = plain(() => ({ paths: [...answers.keys(), ...options.otherPaths].toSorted(byText) }))
  answers.set('/', index).set('/index.html', index)
  return request => {
    const path =
      request.path.length > 1 && request.path.endsWith('/') ? request.path.slice(0, -1) : request.path
    const answer = answers.get(path)
    if (answer === undefined) return undefined
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
    return answer(request)
  }
}

function groupAnswers(kinds: readonly AnyKind[]): readonly [string, Answer][] {
  return groupsOf(kinds).flatMap(group => [
    [`/apis/${group}`, plain(() => apiGroup(kinds, group))] as const,
    ...versionAnswers(kinds, group, `/apis/${group}`),
  ])
}

/** A server without the core group answers 404 at `/api`, which clients take for just that. */
function coreAnswers({ kinds, serverAddress }: DiscoveryOptions): readonly [string, Answer][] {
  if (versionsOf(kinds, '').length === 0) return []
  return [
    ['/api', aggregatable(kinds, 'core', () => apiVersions(serverAddress()))],
    ...versionAnswers(kinds, '', '/api'),
  ]
}

function versionAnswers(
  kinds: readonly AnyKind[],
  group: string,
  prefix: string,
): readonly [string, Answer][] {
  return versionsOf(kinds, group).map(version => [
    `${prefix}/${version}`,
    plain(() => apiResourceList(kinds, group, version)),
  ])
}

function plain(content: () => unknown): Answer {
  const document = once(() => toDocument(content()))
  return request => {
    if (!acceptsJson(request)) throw notAcceptable(['application/json'])
    return jsonReply(document().body)
  }
}

/** `/api` and `/apis` answer all groups, versions and resources in one document to whoever asks for that. */
function aggregatable(kinds: readonly AnyKind[], which: 'core' | 'groups', legacy: () => unknown): Answer {
  const plainDocument = once(() => toDocument(legacy()))
  const aggregated = {
    v2: once(() => toDocument(apiGroupDiscoveryList(kinds, 'v2', which))),
    v2beta1: once(() => toDocument(apiGroupDiscoveryList(kinds, 'v2beta1', which))),
  }
  const vary = { vary: 'Accept' }
  return request => {
    for (const clause of clausesOf(request)) {
      const version = aggregatedVersion(clause)
      if (version !== undefined) {
        // Clients tell the forms apart by these parameters, not by the body.
        const type = `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
        const headers = { ...vary, 'content-type': type, 'cache-control': 'public' }
        return documentReply(request, aggregated[version](), headers)
      }
      if (isPlainJson(clause))
        return documentReply(request, plainDocument(), { ...vary, 'content-type': 'application/json' })
    }
    throw notAcceptable(['application/json'])
  }
}

function aggregatedVersion(clause: AcceptClause): 'v2' | 'v2beta1' | undefined {
  const { params } = clause
  if (!isJson(clause) || params.get('as') !== 'APIGroupDiscoveryList') return undefined
  const version = params.get('v')
  return params.get('g') === 'apidiscovery.k8s.io' && (version === 'v2' || version === 'v2beta1')
    ? version
    : undefined
}
