/** How writes reach the store: compare and swap until the decision was made on the state that it replaces. */

import type { KubeObject } from '../../src/api/meta.ts'
import { encodeBody } from '../../src/codec/object-bytes.ts'
import { conflict, notFound, objectTooLarge } from '../../src/kernel/errors.ts'
import type { AdmissionAttributes } from '../contract.ts'
import type { StoredObject, WriteResult } from '../store-contract.ts'
import { type Current, currentOf } from './current.ts'
import { applyMediaType, contentTypeOf } from './document.ts'
import { isLast } from './finalizer.ts'
import { checkGuard, guardOf } from './guard.ts'
import { withManagers } from './ownership.ts'
import { type Call, keyOf, type Resource } from './parts.ts'
import { isUnchanged } from './strategy.ts'

/** What one object may take in the store, as etcd has it. */
export const maxStoredBytes = 1_536 * 1_024
/** Whoever loses so many races in a row is told to try again. */
const maxAttempts = 100

export type Decision =
  /** Nothing changes: no write, no event. */
  | { readonly type: 'keep' }
  /** What only begins to be deleted was not validated again. */
  | { readonly type: 'put'; readonly object: KubeObject; readonly isAdmitted: boolean }
  /** The object goes away; `object` is its last state if that differs from the stored one. */
  | { readonly type: 'remove'; readonly object?: KubeObject }

export type Outcome = { readonly object: StoredObject; readonly isRemoved: boolean }

/**
 * Decides on the current object and writes what was decided; when another write came in between, decides again.
 * Throws NotFound when the object is not there, Conflict after very many lost races.
 */
export async function change(
  call: Call,
  dryRun: boolean,
  decide: (current: Current) => Decision | Promise<Decision>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { store, metrics } = call.parts
  const got = store.get(keyOf(call))
  let stored = got instanceof Promise ? await got : got
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    signal.throwIfAborted()
    if (stored === undefined) throw notFound(call.resource.ref, call.name)
    const current = knownOf(call, stored)
    if (call.pace.isDue) await call.pace.rest()
    const deciding = decide(current)
    const decision = deciding instanceof Promise ? await deciding : deciding
    const { writing, object } = carryOut(call, current, decision, dryRun)
    const result = writing instanceof Promise ? await writing : writing
    checkGuard(call, result)
    if (result.done) return outcomeOf(call, result.object, { object, current, decision })
    metrics.counter(lostRaces).add({ resource: call.resource.qualified })
    stored = result.current
  }
  throw conflict(call.resource.ref, call.name)
}

function knownOf({ written, resource }: Call, stored: StoredObject): Current {
  return written.find(resource, stored) ?? currentOf(resource, stored)
}

export const lostRaces = {
  name: 'isthmus_registry_lost_races_total',
  help: 'Writes that were decided again because another write came first.',
  labels: ['resource'],
}

function outcomeOf(
  call: Call,
  stored: StoredObject,
  { object, current, decision }: Pick<Writing, 'object'> & { current: Current; decision: Decision },
): Outcome {
  if (object !== undefined) call.written.put(call.resource, stored, object, current)
  return { object: stored, isRemoved: decision.type === 'remove' }
}

/** What becomes of a write, and the object as it is then known; absent when it was not validated or not written. */
type Writing = {
  readonly writing: WriteResult | Promise<WriteResult>
  readonly object?: KubeObject | undefined
}

function carryOut(call: Call, current: Current, decision: Decision, dryRun: boolean): Writing {
  const { stored } = current
  if (decision.type === 'keep') return { writing: { done: true, object: stored } }
  const encoded = decision.object && encodeFor(call, decision.object)
  const body = encoded?.body ?? stored.body
  if (dryRun) return { writing: { done: true, object: { ...stored, body } } }
  const writing = commit(call, stored, decision, body)
  const isAdmitted = decision.type === 'put' && decision.isAdmitted
  return isAdmitted && encoded !== undefined ? { writing, object: encoded.object } : { writing }
}

function commit(
  call: Call,
  { revision }: StoredObject,
  { type }: Decision,
  body: Buffer,
): Promise<WriteResult> {
  const { store } = call.parts
  const [key, guard] = [keyOf(call), guardOf(call)]
  return type === 'remove'
    ? store.delete(key, revision, body, guard)
    : store.update(key, revision, body, guard)
}

/** What becomes of an update: nothing when it changes nothing, the end when it was the last thing to wait for. */
export function decisionOn({ kind }: Resource, next: KubeObject, current: Current): Decision {
  if (isLast(kind, next)) return { type: 'remove', object: next }
  const put: Decision = { type: 'put', object: next, isAdmitted: true }
  return isUnchanged(next, current.bare) ? { type: 'keep' } : put
}

export function decode(resource: Resource, stored: StoredObject): KubeObject {
  return currentOf(resource, stored).object
}

/**
 * What is too large to be stored with its managers is stored without, unless it is applied: apply goes by them. Throws 413
 * when the object is too large all the same.
 */
export function encodeFor({ request }: Call, object: KubeObject): Encoded {
  const body = encodeBody(object)
  if (body.length <= maxStoredBytes) return { object, body }
  const smaller = contentTypeOf(request) === applyMediaType ? object : withManagers(object, [])
  return { object: smaller, body: encode(smaller) }
}

/** An object and its bytes. */
type Encoded = { readonly object: KubeObject; readonly body: Buffer }

/** Throws 413 when the object is larger than what is stored. */
export function encode(object: KubeObject): Buffer {
  const body = encodeBody(object)
  if (body.length > maxStoredBytes) throw objectTooLarge(body.length, maxStoredBytes)
  return body
}

/** What admission is told; `objects` are absent as the operation has it. */
export function attributesOf(
  call: Call,
  operation: AdmissionAttributes['operation'],
  dryRun: boolean,
  objects: { readonly name?: string; readonly object?: KubeObject; readonly oldObject?: KubeObject },
): AdmissionAttributes {
  const { request, resource, namespace, subresource } = call
  return {
    operation,
    served: resource.served,
    namespace,
    name: objects.name ?? call.name,
    subresource,
    user: request.user,
    dryRun,
    object: objects.object,
    oldObject: objects.oldObject,
    warn: text => request.warn(text),
  }
}
