import type { KubeObject } from '../../src/api/meta.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import type { Status } from '../../src/kernel/errors.ts'
import type { Reply } from '../contract.ts'
import type { Current } from './current.ts'
import { type DeleteOptions, deleteOptions } from './delete-options.ts'
import { beginDeletion, finalizersOnDelete, isHeld } from './finalizer.ts'
import type { Call } from './parts.ts'
import { checkDelete } from './precondition.ts'
import { sameState } from './strategy.ts'
import { attributesOf, change, type Decision, type Outcome } from './write.ts'

/** 200 with the object while something holds it; when it is gone, with the object or a Status, as its kind has it. */
export async function remove(call: Call, signal: AbortSignal): Promise<Reply> {
  const options = await deleteOptions(call.request)
  const { object, isRemoved } = await removeObject(call, options, signal)
  const { resource } = call
  if (!isRemoved || resource.kind.answersDeleted) {
    const code = !isRemoved && options.wantsDependentsGone ? 202 : 200
    return { type: 'object', code, served: resource.served, object }
  }
  const { metadata } = decodeBody(resource.apiVersion, resource.kind.kind, object)
  return { type: 'status', code: 200, status: removed(call, metadata.uid ?? '') }
}

function removed({ resource, name }: Call, uid: string): Status {
  const { group, resource: kind } = resource.ref
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...(group === '' ? {} : { group }), kind, uid },
  }
}

/** Deletes one object, or begins to. Throws NotFound, and Conflict when a precondition fails. */
export function removeObject(call: Call, options: DeleteOptions, signal: AbortSignal): Promise<Outcome> {
  const { parts, resource } = call
  const decide = async ({ object, bare }: Current): Promise<Decision> => {
    checkDelete(resource, options.preconditions, object)
    const attributes = attributesOf(call, 'DELETE', options.dryRun, { oldObject: object })
    await parts.admission.mutate(attributes, signal)
    await parts.admission.validate(attributes, signal)
    return deletion(call, bare, options)
  }
  return change(call, options.dryRun, decide, signal)
}

function deletion({ parts, resource }: Call, object: KubeObject, { policy }: DeleteOptions): Decision {
  const effective = resource.kind.isCollected ? policy : 'Background'
  const finalizers = finalizersOnDelete(object.metadata.finalizers ?? [], effective)
  const next = beginDeletion(resource.kind, object, finalizers, parts.clock.now())
  if (!isHeld(resource.kind, next)) return { type: 'remove' }
  return sameState(next, object) ? { type: 'keep' } : { type: 'put', object: next, isAdmitted: false }
}
