import { applyDefaults, validateSchema } from '../../src/api/derive/validate.ts'
import type { ObjectMeta } from '../../src/api/meta.ts'
import { invalid } from '../../src/kernel/errors.ts'
import type { Reply, Review } from '../contract.ts'
import { checkNamespace, readObject } from './document.ts'
import { writeOptions } from './options.ts'
import { ownershipOf, withManagers } from './ownership.ts'
import type { Call } from './parts.ts'
import { encode } from './write.ts'

/** 201 with the answered review, which is not stored. */
export async function createReview(call: Call, review: Review, signal: AbortSignal): Promise<Reply> {
  const { request, resource, namespace } = call
  const { kind } = resource
  const options = writeOptions('CreateOptions', request.query)
  // The status is the server's to fill; older clients send one that is full of nulls.
  const { status: _status, ...sent } = await readObject(call, options.fieldValidation)
  checkNamespace(call, sent.metadata.namespace)
  const metadata = { ...askedMetadata(sent.metadata), ...(kind.scope === 'Namespaced' ? { namespace } : {}) }
  const question = applyDefaults(kind, { ...sent, metadata })
  const broken = validateSchema(kind, question)
  const { name = '' } = question.metadata
  if (broken.length > 0) throw invalid(resource.kindRef, name, broken)
  const managers = ownershipOf(call, options.fieldManager, sent)(question, undefined)
  const object = withManagers(question, managers)
  const errors = kind.validate(object)
  if (errors.length > 0) throw invalid(resource.kindRef, name, errors)
  const answer = await review({ object, user: request.user, dryRun: options.dryRun }, signal)
  return {
    type: 'object',
    code: 201,
    served: resource.served,
    object: { revision: 0, resource: resource.qualified, namespace, name, body: encode(answer) },
  }
}

/** What the server says of objects that it stores is nothing to ask with. */
function askedMetadata(sent: ObjectMeta): ObjectMeta {
  const {
    namespace: _namespace,
    uid: _uid,
    creationTimestamp: _created,
    deletionTimestamp: _deleted,
    deletionGracePeriodSeconds: _grace,
    selfLink: _link,
    ...metadata
  }: ObjectMeta & { readonly selfLink?: string } = sent
  return metadata
}
