/** `Event` of audit.k8s.io/v1, as kube-apiserver writes it. */
import { apiVersionOf } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { isRecord } from '../../src/api/record.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import { toMicroTime } from '../../src/kernel/clock.ts'
import type { Status } from '../../src/kernel/errors.ts'
import type { ApiRequest, Reply, RequestInfo, UserInfo } from '../contract.ts'
import type { Level, StageName } from './policy.ts'

/** What a request came to. */
export type Outcome =
  | { readonly type: 'reply'; readonly reply: Reply }
  | { readonly type: 'failure'; readonly status: Status }

/** What an event is made of. */
export type Facts = {
  readonly level: Level
  readonly request: ApiRequest
  /** Who presented credentials; somebody else may be impersonated. */
  readonly user: UserInfo
  readonly impersonated: UserInfo | undefined
  readonly receivedMs: number
  readonly omitManagedFields: boolean
}

const maxUserAgent = 1024
/** Longer lists are not shown: a request must not hold up others for the sake of the log. */
const maxListBytes = 1024 * 1024

/** One line of the log. */
export function eventOf(facts: Facts, stage: StageName, nowMs: number, outcome?: Outcome): string {
  const { level, request, user, impersonated } = facts
  const { notes, info, headers } = request
  const userAgent = headers.get('user-agent')?.[0]?.slice(0, maxUserAgent)
  const annotations = Object.fromEntries(notes.annotations ?? [])
  const bodies = level === 'Request' || level === 'RequestResponse'
  const ref = objectRef(info, outcome)
  const event = {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level,
    auditID: notes.auditId,
    stage,
    requestURI: notes.target,
    verb: info.verb,
    user: userOf(user),
    ...(impersonated === undefined ? {} : { impersonatedUser: userOf(impersonated) }),
    sourceIPs: sourcesOf(request),
    ...(userAgent === undefined ? {} : { userAgent }),
    ...(ref === undefined ? {} : { objectRef: ref }),
    ...(outcome === undefined ? {} : { responseStatus: responseStatus(outcome) }),
    ...(bodies && outcome !== undefined ? shown('requestObject', notes.document, facts) : {}),
    ...(level === 'RequestResponse' ? shown('responseObject', answered(outcome), facts) : {}),
    requestReceivedTimestamp: toMicroTime(facts.receivedMs),
    stageTimestamp: toMicroTime(nowMs),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
  return `${JSON.stringify(event)}\n`
}

function userOf({ name, uid, groups, extra }: UserInfo): object {
  return {
    username: name,
    ...(uid === undefined ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  }
}

/** Those that proxies tell of, and who is there: k8s.io/apimachinery `net.SourceIPs`. */
function sourcesOf({ headers, peer }: ApiRequest): readonly string[] {
  const told = ['x-forwarded-for', 'x-real-ip'].flatMap(name =>
    (headers.get(name)?.[0] ?? '').split(',').map(part => part.trim()),
  )
  const sources = [...told.filter(part => /^[0-9a-fA-F.:]{2,45}$/.test(part)), peer.address]
  return sources.filter((source, at) => sources.indexOf(source) === at)
}

function objectRef(info: RequestInfo, outcome: Outcome | undefined): object | undefined {
  if (!info.isResource) return
  const made = outcome?.type === 'reply' && outcome.reply.type === 'object' ? outcome.reply.object : undefined
  const name = info.name || (made?.name ?? '')
  const texts = {
    resource: info.resource,
    namespace: info.namespace,
    name,
    apiGroup: info.group,
    apiVersion: info.version,
    subresource: info.subresource,
  }
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''))
}

function responseStatus(outcome: Outcome): object {
  if (outcome.type === 'reply') return { metadata: {}, code: codeOf(outcome.reply) }
  const { kind: _kind, apiVersion: _apiVersion, ...status } = outcome.status
  return status
}

function codeOf(reply: Reply): number {
  return 'code' in reply ? reply.code : 200
}

function answered(outcome: Outcome | undefined): unknown {
  if (outcome === undefined) return
  if (outcome.type === 'failure') return outcome.status
  const { reply } = outcome
  switch (reply.type) {
    case 'object':
      return objectOf(reply)
    case 'list': {
      if (reply.items.reduce((sum, { body }) => sum + body.length, 0) > maxListBytes) return
      const items = reply.items.map(object => objectOf({ served: reply.served, object }))
      const metadata = { resourceVersion: String(reply.revision) }
      const { kind, version } = reply.served
      return { kind: `${kind.kind}List`, apiVersion: apiVersionOf(kind, version), metadata, items }
    }
    case 'status':
      return reply.status
    case 'watch':
    case 'raw':
    case 'slices':
      return
  }
}

function objectOf({
  served,
  object,
}: Pick<Extract<Reply, { type: 'object' }>, 'served' | 'object'>): KubeObject {
  return decodeBody(apiVersionOf(served.kind, served.version), served.kind.kind, object)
}

function shown(field: string, value: unknown, { omitManagedFields }: Facts): object {
  if (value === undefined) return {}
  return { [field]: omitManagedFields ? withoutManagedFields(value) : value }
}

function withoutManagedFields(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { items, metadata } = value
  if (Array.isArray(items)) return { ...value, items: items.map(withoutManagedFields) }
  if (!isRecord(metadata)) return value
  const { managedFields: _managedFields, ...rest } = metadata
  return { ...value, metadata: rest }
}
