/** How one object is written: whole, or as its metadata. */
import { apiVersionOf } from '../../src/api/kind.ts'
import { headFrom, metadataEnd, openingOf } from '../../src/codec/object-bytes.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
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
export const wholeItems: (served: ServedKind) => WriteItem = madeOnce((served: ServedKind) => {
  const { apiVersion, kind } = namesOf(served)
  const opening = openingOf(apiVersion, kind)
  return (writer: ByteWriter, object: StoredObject) => {
    writer.text(headFrom(opening, object.revision, object.body))
    writer.bytes(object.body)
  }
})

/** PartialObjectMetadata: the stored bytes up to the end of the metadata. */
export function metadataItems(version: Transform['version']): WriteItem {
  const opening = openingOf(`meta.k8s.io/${version}`, 'PartialObjectMetadata')
  return (writer, object) => {
    writer.text(headFrom(opening, object.revision, object.body))
    writer.bytes(object.body, rememberedEnd(object.body))
    writer.ascii('}')
  }
}

/** Looking for it takes longer than all else that is done for an item of a list. */
const rememberedEnd = madeOnce((body: Buffer) => metadataEnd(body))
