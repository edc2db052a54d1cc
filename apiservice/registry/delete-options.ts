/** `metav1.DeleteOptions` from the body, or from the query when there is no body. */
import {
  protobufEnvelope,
  protobufMediaType,
  readProtobufDeleteOptions,
} from '../../src/api/derive/protobuf-object.ts'
import { isRecord, type JsonRecord } from '../../src/api/record.ts'
import type { Parsed } from '../../src/codec/json.ts'
import { decodeDocument } from '../../src/codec/media.ts'
import { badRequest, isReason } from '../../src/kernel/errors.ts'
import { type FieldError, invalidValue, notSupported } from '../../src/kernel/field-error.ts'
import type { ApiRequest } from '../contract.ts'
import { documentTypeOf, parseFault, withProtobuf } from './document.ts'
import { booleanOption, dryRunErrors, integerOption, refuse } from './options.ts'
import type { Preconditions } from './precondition.ts'

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground'

export type DeleteOptions = {
  readonly dryRun: boolean
  /** Undefined: the object's own finalizers decide. */
  readonly policy: PropagationPolicy | undefined
  readonly preconditions: Preconditions
  /** `orphanDependents: false`, which an older protocol answers with 202 when the object stays. */
  readonly wantsDependentsGone: boolean
}

type Raw = {
  readonly dryRun: readonly string[]
  readonly policy: string | undefined
  readonly orphanDependents: boolean | undefined
  readonly preconditions: Preconditions
}

const policies: readonly PropagationPolicy[] = ['Foreground', 'Background', 'Orphan']

/** Throws 400 for what is no DeleteOptions, 415 for an unknown media type, 422 for what has no meaning. */
export async function deleteOptions(request: ApiRequest): Promise<DeleteOptions> {
  const bytes = await request.body()
  const raw = bytes.length === 0 ? fromQuery(request) : await fromBody(bytes, request)
  refuse('DeleteOptions', errorsOf(raw))
  return {
    dryRun: raw.dryRun.length > 0,
    policy: policyOf(raw),
    preconditions: raw.preconditions,
    wantsDependentsGone: raw.orphanDependents === false,
  }
}

function policyOf(raw: Raw): PropagationPolicy | undefined {
  if (raw.orphanDependents !== undefined) return raw.orphanDependents ? 'Orphan' : 'Background'
  return policies.find(policy => policy === raw.policy)
}

function errorsOf(raw: Raw): readonly FieldError[] {
  const errors: FieldError[] = []
  if (raw.orphanDependents !== undefined && raw.policy !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set'
    errors.push(invalidValue('propagationPolicy', raw.policy, why))
  }
  if (raw.policy !== undefined && !policies.some(policy => policy === raw.policy)) {
    errors.push(notSupported('propagationPolicy', raw.policy, [...policies, 'nil']))
  }
  return [...errors, ...dryRunErrors(raw.dryRun)]
}

function fromQuery({ query, info }: ApiRequest): Raw {
  integerOption(query.get('gracePeriodSeconds'))
  // A collection's resourceVersion is the one of its list.
  const isItem = info.isResource && info.verb === 'delete'
  return {
    dryRun: query.getAll('dryRun'),
    policy: query.get('propagationPolicy') ?? undefined,
    orphanDependents: query.has('orphanDependents')
      ? booleanOption(query.get('orphanDependents'))
      : undefined,
    preconditions: {
      uid: query.get('uid') ?? undefined,
      resourceVersion: isItem ? (query.get('resourceVersion') ?? undefined) : undefined,
    },
  }
}

async function decode(bytes: Buffer, contentType: string): Promise<unknown> {
  if (contentType !== protobufMediaType) return (await decodeText(bytes, contentType)).value
  const { raw, ...names } = protobufEnvelope(bytes)
  return { ...readProtobufDeleteOptions(raw), ...names }
}

async function decodeText(bytes: Buffer, contentType: string): Promise<Parsed> {
  try {
    return await decodeDocument(bytes, contentType)
  } catch (thrown) {
    throw isReason(thrown, 'BadRequest') ? badRequest(parseFault(contentType, thrown)) : thrown
  }
}

async function fromBody(bytes: Buffer, request: ApiRequest): Promise<Raw> {
  const value = await decode(bytes, documentTypeOf(request, withProtobuf))
  if (!isRecord(value)) throw badRequest('DeleteOptions: the body is not an object')
  const kind = value.kind ?? 'DeleteOptions'
  if (kind !== 'DeleteOptions') {
    throw badRequest(`no kind ${JSON.stringify(kind)} is accepted here: a delete takes DeleteOptions`)
  }
  const preconditions = fieldOf(value, 'preconditions', isRecord, 'an object') ?? {}
  fieldOf(value, 'gracePeriodSeconds', isInteger, 'an integer')
  return {
    dryRun: fieldOf(value, 'dryRun', isStrings, 'a list of strings') ?? [],
    policy: fieldOf(value, 'propagationPolicy', isString, 'a string'),
    orphanDependents: fieldOf(value, 'orphanDependents', isBoolean, 'a boolean'),
    preconditions: {
      uid: fieldOf(preconditions, 'uid', isString, 'a string'),
      resourceVersion: fieldOf(preconditions, 'resourceVersion', isString, 'a string'),
    },
  }
}

const isString = (value: unknown): value is string => typeof value === 'string'
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean'
const isInteger = (value: unknown): value is number | bigint =>
  typeof value === 'bigint' || Number.isSafeInteger(value)
const isStrings = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isString)

function fieldOf<T>(
  record: JsonRecord,
  name: string,
  is: (value: unknown) => value is T,
  what: string,
): T | undefined {
  const value = record[name]
  if (value === undefined || value === null) return undefined
  if (!is(value)) throw badRequest(`DeleteOptions: ${name} must be ${what}`)
  return value
}
