import type { KubeObject } from '../../src/api/meta.ts'
import { isReason } from '../../src/kernel/errors.ts'
import { andThen } from '../../src/kernel/when-settled.ts'
import type { Reply } from '../contract.ts'
import { admitted } from './admitted.ts'
import { createObject } from './create.ts'
import { type Current, provenBareOf } from './current.ts'
import { checkAddress, readObject } from './document.ts'
import { writeOptions } from './options.ts'
import { type Ownership, ownershipOf } from './ownership.ts'
import { type Call, keyOf } from './parts.ts'
import { checkUpdate, namesNoVersion } from './precondition.ts'
import { forUpdate } from './strategy.ts'
import { change, type Decision, decisionOn } from './write.ts'

/** Replaces the object, or the part of it that the subresource is for. */
export async function update(call: Call, signal: AbortSignal): Promise<Reply> {
  const { resource, request } = call
  const options = writeOptions('UpdateOptions', request.query)
  // Most of what this process has last written there is sent back, also when another has changed it since.
  const last = call.written.last(resource, keyOf(call))
  const sent = await readObject(call, options.fieldValidation, last)
  checkAddress(call, sent)
  const { dryRun } = options
  const ownership = ownershipOf(call, options.fieldManager, sent)
  const decide = (current: Current): Decision | Promise<Decision> => {
    checkUpdate(resource, sent.metadata, current.object.metadata)
    return replacement(call, sent, { current, dryRun, ownership }, signal)
  }
  try {
    const { object } = await change(call, dryRun, decide, signal)
    return { type: 'object', code: 200, served: resource.served, object }
  } catch (thrown) {
    if (!isReason(thrown, 'NotFound') || !mayCreate(call, sent)) throw thrown
    return createInstead(call, sent, { dryRun, ownership }, signal)
  }
}

/** A PUT creates what it does not find only for kinds that say so, and not when it was made for an object that was. */
function mayCreate({ resource, subresource }: Call, { metadata }: KubeObject): boolean {
  return resource.kind.createOnUpdate && subresource === '' && namesNoVersion(metadata) && !metadata.uid
}

async function createInstead(
  call: Call,
  sent: KubeObject,
  context: { readonly dryRun: boolean; readonly ownership: Ownership },
  signal: AbortSignal,
): Promise<Reply> {
  const { parts, request, resource } = call
  const { info, user } = request
  if (info.isResource) await parts.authorize?.({ user, info: { ...info, verb: 'create' } }, signal)
  const object = await createObject(call, sent, context, signal)
  return { type: 'object', code: 201, served: resource.served, object }
}

/** What becomes of the current object when it is to be as `sent`. Throws 422 with every fault. */
export function replacement(
  call: Call,
  sent: KubeObject,
  context: { readonly current: Current; readonly dryRun: boolean; readonly ownership: Ownership },
  signal: AbortSignal,
): Decision | Promise<Decision> {
  const { resource, subresource, pace } = call
  const { current, dryRun, ownership } = context
  const old = current.bare
  const object = forUpdate(resource.kind, subresource, sent, old)
  const proven = provenBareOf(current)
  const replaced = current.object
  const admitting = admitted(call, { object, old, replaced, proven, sent, dryRun, ownership }, signal)
  return andThen(admitting, next => {
    const decision = decisionOn(resource, next, current)
    return pace.goOn(() => decision)
  })
}
