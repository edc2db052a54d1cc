/** How one object is written: whole, or as its metadata. */
import { apiVersionOf } from '../../src/api/kind.ts'
import { beforeRevision, behindRevision, metadataEnd, openingOf } from '../../src/codec/object-bytes.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { ServedKind } from '../contract.ts'
import type { StoredObject } from '../store-contract.ts'
import type { Transform } from './accept.ts'
import { type ByteWriter, digitsOf } from './bytes.ts'

export type WriteItem = (writer: ByteWriter, object: StoredObject) => void

/** How many bytes are written of an object. */
export type SizeOfItem = (object: StoredObject) => number

/** How the items of a list are written. */
export type ItemForm = {
  readonly write: WriteItem
  /** Absent where an object has to be read for it, which a long list is not to do all at once. */
  readonly size?: SizeOfItem
  /** Forms of one shape write the same of a version, at one time. */
  readonly shape: string
  /** Of a form that writes other things at other times: when it does, and until when an object stays as it is then. */
  readonly time?: { readonly nowMs: number; changesAt(object: StoredObject): number }
}

export type Items = {
  /** Everything of a list but its items: JSON that ends where the first item begins. */
  readonly head: string
  readonly items: readonly StoredObject[]
  readonly form: ItemForm
}

/** What comes behind the last item. */
export const jsonEnd = ']}\n'

export function wholeForm(served: ServedKind): ItemForm {
  const { apiVersion, kind } = namesOf(served)
  return { write: wholeItems(served), size: wholeSizes(served), shape: `${apiVersion} ${kind}` }
}

export function metadataForm(version: Transform['version']): ItemForm {
  const shape = `PartialObjectMetadata ${version}`
  return { write: metadataItems(version), shape }
}

/** The apiVersion and the kind of a served kind, as objects carry them. */
export type Names = { readonly apiVersion: string; readonly kind: string }

export function namesOf(served: ServedKind): Names {
  return { apiVersion: apiVersionOf(served.kind, served.version), kind: served.kind.kind }
}

/** The object as it is stored, under the names of the served version: no byte of it is read. */
export const wholeItems: (served: ServedKind) => WriteItem = madeOnce((served: ServedKind) => {
  const { writeHead } = headsOf(namesOf(served))
  return (writer: ByteWriter, object: StoredObject) => {
    writeHead(writer, object)
    writer.bytes(object.body)
  }
})

/** The same and a line end, as a text of which each character is a byte; there is nothing but ASCII in a head. */
export const wholeTexts: (served: ServedKind) => (object: StoredObject) => string = madeOnce(
  (served: ServedKind) => {
    const { textOfHead } = headsOf(namesOf(served))
    return (object: StoredObject) => `${textOfHead(object)}${object.body.toString('latin1')}\n`
  },
)

const wholeSizes: (served: ServedKind) => SizeOfItem = madeOnce((served: ServedKind) => {
  const { sizeOfHead } = headsOf(namesOf(served))
  return (object: StoredObject) => sizeOfHead(object) + object.body.length
})

/** PartialObjectMetadata: the stored bytes up to the end of the metadata. */
export function metadataItems(version: Transform['version']): WriteItem {
  const write = metadataUpTo(version)
  return (writer, object) => write(writer, object, rememberedEnd(object.body))
}

/** For those who know where the metadata of an object ends. */
export function metadataUpTo(version: Transform['version']) {
  const { writeHead } = headsOf(partialNames(version))
  return (writer: ByteWriter, object: StoredObject, end: number): void => {
    writeHead(writer, object)
    writer.bytesUpTo(object.body, end)
    writer.ascii('}')
  }
}

export function partialNames(version: Transform['version']): Names {
  return { apiVersion: `meta.k8s.io/${version}`, kind: 'PartialObjectMetadata' }
}

type Heads = {
  readonly writeHead: WriteItem
  readonly textOfHead: (object: StoredObject) => string
  readonly sizeOfHead: SizeOfItem
}

/** What comes before a body, as `headOf` of the codec has it. */
function headsOf({ apiVersion, kind }: Names): Heads {
  const opening = openingOf(apiVersion, kind)
  const startText = opening + beforeRevision
  const start = Buffer.from(startText)
  return {
    writeHead: (writer, { revision, body }) => {
      if (revision === 0) return writer.text(opening)
      writer.bytes(start)
      writer.number(revision)
      writer.ascii(behindRevision(body))
    },
    textOfHead: ({ revision, body }) =>
      revision === 0 ? opening : startText + String(revision) + behindRevision(body),
    sizeOfHead: ({ revision, body }) =>
      revision === 0
        ? Buffer.byteLength(opening)
        : start.length + digitsOf(revision) + behindRevision(body).length,
  }
}

/** Looking for it takes longer than all else that is done for an item of a list. */
const rememberedEnd = madeOnce((body: Buffer) => metadataEnd(body))
