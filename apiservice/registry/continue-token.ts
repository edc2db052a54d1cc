/** Where a page ended: opaque to clients, with the snapshot that all pages of a list show. */
import { isRecord } from '../../src/api/record.ts'
import { badRequest, type StatusError } from '../../src/kernel/errors.ts'
import type { ObjectKey, Revision } from '../store-contract.ts'

export type Position = {
  /** The namespace whose part of a list over many the page ended in; undefined when the list has no parts. */
  readonly within: string | undefined
  /** -1: the newest state, which is not the one that earlier pages have shown. */
  readonly revision: Revision | -1
  readonly after: ObjectKey
}

const tokenVersion = 'meta.k8s.io/v1'
/** Ends a key, so that a name does not stand for the names that begin with it. */
const keyEnd = '\0'

/** URL-safe base64 of JSON, in the form of k8s.io/apiserver, with the resource of the last item. */
export function toToken({ revision, within, after }: Position): string {
  const { resource, namespace, name } = after
  const start = `${namespace === '' ? '' : `${namespace}/`}${name}${keyEnd}`
  const token = { v: tokenVersion, rv: revision, start, r: resource, ns: within }
  return Buffer.from(JSON.stringify(token)).toString('base64url')
}

/** Throws 400 for what is no token of ours. */
export function fromToken(token: string): Position {
  const value = parse(token)
  if (!isRecord(value)) throw invalidToken()
  const { v, rv, start, r, ns: within } = value
  if (v !== tokenVersion) throw invalidToken('server does not recognize this encoded version')
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv < -1 || rv === 0) {
    throw invalidToken('incorrect encoded start resourceVersion')
  }
  if (typeof start !== 'string' || !start.endsWith(keyEnd) || typeof r !== 'string') {
    throw invalidToken('incorrect encoded start key')
  }
  if (within !== undefined && typeof within !== 'string') throw invalidToken('incorrect encoded namespace')
  const slash = start.indexOf('/')
  return {
    revision: rv,
    within,
    after: {
      resource: r,
      namespace: slash < 0 ? '' : start.slice(0, slash),
      name: start.slice(slash + 1, -keyEnd.length),
    },
  }
}

function parse(token: string): unknown {
  try {
    return JSON.parse(Buffer.from(token, 'base64url').toString('utf8'))
  } catch {
    // What a parser says of it would quote bytes that are nobody's text.
    throw invalidToken()
  }
}

function invalidToken(why?: string): StatusError {
  const sentence = 'invalid continue token: continue key is not valid'
  return badRequest(why === undefined ? sentence : `${sentence}: ${why}`)
}
