/** How one object is written: whole, or as its metadata. */
import { apiVersionOf } from '../../src/api/kind.ts'
import { headOf, metadataEnd } from '../../src/codec/object-bytes.ts'
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
export function wholeItems(names: Names): WriteItem {
  return (writer, object) => {
    writer.text(headOf(names.apiVersion, names.kind, object.revision, object.body))
    writer.bytes(object.body)
  }
}

/** PartialObjectMetadata: the stored bytes up to the end of the metadata. */
export function metadataItems(version: Transform['version']): WriteItem {
  const apiVersion = `meta.k8s.io/${version}`
  return (writer, object) => {
    writer.text(headOf(apiVersion, 'PartialObjectMetadata', object.revision, object.body))
    writer.bytes(object.body, metadataEnd(object.body))
    writer.text('}')
  }
}
