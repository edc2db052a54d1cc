import { randomInt, randomUUID } from 'node:crypto'
import type { KubeObject } from '../../src/api/meta.ts'
import { alreadyExists, badRequest } from '../../src/kernel/errors.ts'
import type { Reply } from '../contract.ts'
import type { StoredObject, WriteResult } from '../store-contract.ts'
import { admitted } from './admitted.ts'
import { checkNamespace, readObject } from './document.ts'
import { checkGuard, guardOf } from './guard.ts'
import { writeOptions } from './options.ts'
import { type Ownership, ownershipOf } from './ownership.ts'
import { type Call, keyOf } from './parts.ts'
import { namesNoVersion } from './precondition.ts'
import { forCreate } from './strategy.ts'
import { decode, encodeFor } from './write.ts'

/** Letters and digits that make no words and are not taken for each other (apimachinery `rand.String`). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const suffixLength = 5
const maxNameLength = 63
const maxNames = 8

/** 201 with the object, once it is durable. */
export async function create(call: Call, signal: AbortSignal): Promise<Reply> {
  const options = writeOptions('CreateOptions', call.request.query)
  const sent = await readObject(call, options.fieldValidation)
  const ownership = ownershipOf(call, options.fieldManager, sent)
  const object = await createObject(call, sent, { dryRun: options.dryRun, ownership }, signal)
  return { type: 'object', code: 201, served: call.resource.served, object }
}

type CreateContext = { readonly dryRun: boolean; readonly ownership: Ownership }

/** Creates what a document says, under its own name or under one that is generated. */
export async function createObject(
  call: Call,
  sent: KubeObject,
  context: CreateContext,
  signal: AbortSignal,
): Promise<StoredObject> {
  checkNamespace(call, sent.metadata.namespace)
  if (!namesNoVersion(sent.metadata)) {
    throw badRequest('resourceVersion should not be set on objects to be created')
  }
  const { name, generateName } = sent.metadata
  if (name || !generateName) {
    const making = newObject(call, sent, context, signal)
    return createOnce(call, making instanceof Promise ? await making : making, context)
  }
  return createNamed(call, sent, context, signal)
}

async function createNamed(
  call: Call,
  sent: KubeObject,
  context: CreateContext,
  signal: AbortSignal,
): Promise<StoredObject> {
  for (let attempt = 1; ; attempt += 1) {
    const name = generatedName(sent.metadata.generateName ?? '')
    const named = { ...sent, metadata: { ...sent.metadata, name } }
    const object = await newObject(call, named, context, signal)
    const created = await tryCreate(call, object, context)
    if (created.done) return created.object
    if (attempt === maxNames) throw alreadyExists(call.resource.ref, name, 'exhausted')
    signal.throwIfAborted()
  }
}

function generatedName(prefix: string): string {
  const suffix = Array.from({ length: suffixLength }, () => alphabet[randomInt(alphabet.length)]).join('')
  return prefix.slice(0, maxNameLength - suffixLength) + suffix
}

function newObject(
  call: Call,
  sent: KubeObject,
  { dryRun, ownership }: CreateContext,
  signal: AbortSignal,
): KubeObject | Promise<KubeObject> {
  const birth = { uid: randomUUID(), namespace: call.namespace, nowMs: call.parts.clock.now() }
  const object = forCreate(call.resource.kind, sent, birth)
  return admitted(call, { object, sent, dryRun, ownership }, signal)
}

async function createOnce(call: Call, object: KubeObject, context: CreateContext): Promise<StoredObject> {
  const result = await tryCreate(call, object, context)
  if (result.done) return result.object
  const { metadata } = object
  const isTerminating =
    result.current !== undefined &&
    decode(call.resource, result.current).metadata.deletionTimestamp !== undefined
  throw alreadyExists(call.resource.ref, metadata.name, isTerminating ? 'terminating' : undefined)
}

async function tryCreate(call: Call, object: KubeObject, { dryRun }: CreateContext): Promise<WriteResult> {
  const { store } = call.parts
  const key = keyOf(call, object.metadata.name)
  const { body } = encodeFor(call, object)
  if (!dryRun) {
    const result = await store.create(key, body, guardOf(call))
    checkGuard(call, result)
    return result
  }
  const current = await store.get(key)
  return current === undefined
    ? { done: true, object: { ...key, revision: 0, body } }
    : { done: false, current }
}
