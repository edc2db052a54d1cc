/** Who manages the fields of an object after a write, as it goes into `metadata.managedFields`. */
import { emptyOf, shapeOf } from '../../src/api/derive/field-shape.ts'
import {
  afterWrite,
  type FieldManager,
  readManagers,
  storedManagers,
  toEntries,
  type Writer,
} from '../../src/api/derive/managed-fields.ts'
import { type AnyKind, apiVersionOf } from '../../src/api/kind.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../src/api/meta.ts'
import { toTime } from '../../src/kernel/clock.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { ApiRequest } from '../contract.ts'
import type { Call } from './parts.ts'

/** The managers of an object that is about to be stored; `old` is what it replaces. */
export type Ownership = (object: KubeObject, old: KubeObject | undefined) => readonly FieldManager[]

const maxNameBytes = 128

/**
 * Of a create, an update or a patch: what the request changes belongs to the client. Clients may also hand in the managers
 * to start from, through the main endpoint: none at all, or others that have a meaning. Of an object that nobody is known
 * to manage the updates are not told apart either, until something is applied to it.
 */
export function ownershipOf(call: Call, fieldManager: string, sent: KubeObject): Ownership {
  const { kind } = call.resource
  const served = servedVersions(kind)
  const writer = writerOf(call, fieldManager, 'Update')
  return (object, old) => {
    const managers = knownManagers(call, sent, old)
    if (old !== undefined && managers.length === 0) return managers
    return afterWrite(
      managers.filter(({ apiVersion }) => served.has(apiVersion)),
      { shape: shapeOf(kind), before: old ?? emptyOf(kind), after: object },
      writer,
    )
  }
}

/** Nobody can tell what the fields of a version mean that the kind does not have. */
const servedVersions = madeOnce(
  (kind: AnyKind): ReadonlySet<string> => new Set(kind.versions.map(({ name }) => apiVersionOf(kind, name))),
)

/** The client of a request, as it writes now. */
export function writerOf(call: Call, fieldManager: string, operation: Writer['operation']): Writer {
  const { parts, request, resource, subresource } = call
  return {
    name: fieldManager === '' ? programOf(request) : fieldManager,
    operation,
    apiVersion: resource.apiVersion,
    subresource,
    time: toTime(parts.clock.now()),
  }
}

/** The product of the User-Agent header, without what cannot be printed. */
function programOf({ headers }: ApiRequest): string {
  const agent = headers.get('user-agent')?.[0] ?? ''
  const slash = agent.indexOf('/')
  const program = slash < 0 ? agent : agent.slice(0, slash)
  if (program.length <= maxNameBytes && /^[ -~]*$/.test(program)) return program
  const printable = program.replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '')
  let name = ''
  for (const letter of printable) {
    if (Buffer.byteLength(name + letter) > maxNameBytes) break
    name += letter
  }
  return name
}

function knownManagers(call: Call, sent: KubeObject, old: KubeObject | undefined): readonly FieldManager[] {
  const stored = storedManagers(old?.metadata.managedFields ?? [])
  const given = sent.metadata.managedFields
  if (call.subresource !== '' || given === undefined || given === old?.metadata.managedFields) return stored
  if (isReset(given)) return []
  const managers = readManagers(given) ?? []
  return managers.length === 0 ? stored : managers
}

/** `[]`, or one entry that says nothing. */
function isReset(entries: readonly ManagedFieldsEntry[]): boolean {
  const [first = {}] = entries
  return entries.length < 2 && Object.keys(first).length === 0
}

/** The object as these manage it. */
export function withManagers(object: KubeObject, managers: readonly FieldManager[]): KubeObject {
  const { metadata } = object
  if (managers.length > 0) return { ...object, metadata: { ...metadata, managedFields: toEntries(managers) } }
  if (metadata.managedFields === undefined) return object
  const { managedFields: _before, ...rest } = metadata
  return { ...object, metadata: rest }
}
