import { applyDefaults, validateSchema } from '../../src/api/derive/validate.ts'
import { invalid } from '../../src/kernel/errors.ts'
import type { Reply, Review } from '../contract.ts'
import { checkNamespace, readObject } from './document.ts'
import { writeOptions } from './options.ts'
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
  const metadata = kind.scope === 'Namespaced' ? { ...sent.metadata, namespace } : sent.metadata
  const object = applyDefaults(kind, { ...sent, metadata })
  const broken = validateSchema(kind, object)
  const { name = '' } = object.metadata
  const errors = broken.length > 0 ? broken : kind.validate(object)
  if (errors.length > 0) throw invalid(resource.kindRef, name, errors)
  const answer = await review({ object, user: request.user, dryRun: options.dryRun }, signal)
  return {
    type: 'object',
    code: 201,
    served: resource.served,
    object: { revision: 0, resource: resource.qualified, namespace, name, body: encode(answer) },
  }
}
