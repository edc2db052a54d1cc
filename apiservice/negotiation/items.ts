/** How one object is written: whole, or as its metadata. */
import { apiVersionOf } from '../../src/api/kind.ts'
import { headFrom, metadataEnd, openingOf } from '../../src/codec/object-bytes.ts'
import type { ServedKind } from '../contract.ts'
import type { StoredObject } from '../store-contract.ts'
import type { Transform } from './accept.ts'
import type { ByteWriter } from './bytes.ts'

export type WriteItem = (writer: ByteWriter, object: StoredObject) => void

/** The apiVersion and the kind of a served kind, as objects carry them. */
export type Names = { readonly apiVersion: string; readonly kind: string }

export function namesOf(served: ServedKind): Names {
  return { apiVersion: apiVersionOf(served.kind, served.version), kind: served.kind.kind }
}

/** The object as it is stored, under the names of the served version: no byte of it is read. */
export function wholeItems(served: ServedKind): WriteItem {
  const known = writers.get(served)
  if (known !== undefined) return known
  const made = itemsOf(namesOf(served))
  writers.set(served, made)
  return made
}

/** Of what is served, which is as long as the server is. */
const writers = new WeakMap<ServedKind, WriteItem>()

function itemsOf(names: Names): WriteItem {
  const opening = openingOf(names.apiVersion, names.kind)
  return (writer, object) => {
    writer.text(headFrom(opening, object.revision, object.body))
    writer.bytes(object.body)
  }
}

/** PartialObjectMetadata: the stored bytes up to the end of the metadata. */
export function metadataItems(version: Transform['version']): WriteItem {
  const opening = openingOf(`meta.k8s.io/${version}`, 'PartialObjectMetadata')
  return (writer, object) => {
    writer.text(headFrom(opening, object.revision, object.body))
    writer.bytes(object.body, rememberedEnd(object.body))
    writer.ascii('}')
  }
}

const ends = new WeakMap<Buffer, number>()

/** Looking for it takes longer than all else that is done for an item of a list. */
function rememberedEnd(body: Buffer): number {
  const end = ends.get(body) ?? metadataEnd(body)
  ends.set(body, end)
  return end
}
