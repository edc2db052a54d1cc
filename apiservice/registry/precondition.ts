/** What must hold of the stored object for a write to go ahead. Checked on every state that the write meets. */
import type { KubeObject, ObjectMeta } from '../../src/api/meta.ts'
import { conflict, invalid } from '../../src/kernel/errors.ts'
import { invalidValue, shown } from '../../src/kernel/field-error.ts'
import type { Resource } from './parts.ts'

export type Preconditions = { readonly uid: string | undefined; readonly resourceVersion: string | undefined }

/** Throws 409 when a delete is meant for another object, or another version of it. */
export function checkDelete(resource: Resource, wanted: Preconditions, { metadata }: KubeObject): void {
  const uid = metadata.uid ?? ''
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    const why = `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`
    throw conflict(resource.ref, metadata.name, why)
  }
  const version = metadata.resourceVersion ?? ''
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== version) {
    const why = `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${version}). The object might have been modified`
    throw conflict(resource.ref, metadata.name, why)
  }
}

/**
 * Throws 409 when a replacement was made for another object or from another version, 422 when it names no version and
 * its kind wants one.
 */
export function checkUpdate(resource: Resource, sent: ObjectMeta, current: ObjectMeta): void {
  checkUid(resource, sent, current)
  checkPatched(resource, sent, current)
}

/** As `checkUpdate`, of an object that is the current one but for what a patch has changed. Its uid is told of elsewhere. */
export function checkPatched(resource: Resource, sent: ObjectMeta, current: ObjectMeta): void {
  if (namesNoVersion(sent)) {
    if (resource.kind.unconditionalUpdate) return
    const kindRef = { group: resource.ref.group, kind: resource.ref.resource }
    throw invalid(kindRef, current.name, [
      invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
    ])
  }
  checkVersion(resource, sent, current)
}

/** Throws 409 when the object names a uid, and it is not the current one. */
export function checkUid(resource: Resource, sent: ObjectMeta, current: ObjectMeta): void {
  if (sent.uid === undefined || sent.uid === '' || sent.uid === current.uid) return
  const why = `Precondition failed: UID in precondition: ${sent.uid}, UID in object meta: ${current.uid ?? ''}`
  throw conflict(resource.ref, current.name, why)
}

/** Throws 409 when the object names a version, and it is not the current one. */
export function checkVersion(resource: Resource, sent: ObjectMeta, current: ObjectMeta): void {
  if (namesNoVersion(sent) || sent.resourceVersion === current.resourceVersion) return
  const version = sent.resourceVersion ?? ''
  if (!/^\d{1,20}$/.test(version)) {
    throw invalid(resource.kindRef, current.name, [
      invalidValue('metadata.resourceVersion', version, `parsing ${shown(version)}: invalid syntax`),
    ])
  }
  throw conflict(resource.ref, current.name)
}

export function namesNoVersion({ resourceVersion }: ObjectMeta): boolean {
  return resourceVersion === undefined || resourceVersion === '' || resourceVersion === '0'
}
