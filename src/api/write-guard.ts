/** How a write says on which version of another object it depends, and how it is told that this is over. */
import { conflict, qualified, type ResourceRef, StatusError } from '../kernel/errors.ts'

/** `<plural>.<group>/<namespace>/<name>@<resourceVersion>`. */
export const guardHeader = 'isthmus-write-guard'

const cause = { reason: 'WriteGuardChanged', message: 'what the write depends on has changed' }

export type NamedGuard = {
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly revision: number
}

type Named = { readonly namespace: string; readonly name: string }

export function formatGuard(of: ResourceRef, { namespace, name }: Named, version: string): string {
  return `${qualified(of)}/${namespace}/${name}@${version}`
}

/** Undefined when the text is no guard. */
export function parseGuard(text: string): NamedGuard | undefined {
  const form = /^([a-z0-9.-]{1,253})\/([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})@(\d{1,15})$/
  const [, resource, namespace, name, version] = form.exec(text) ?? []
  if (resource === undefined || namespace === undefined || name === undefined) return undefined
  return { resource, namespace, name, revision: Number(version) }
}

/** 409, other than that of a write that came too late: it is of no use to read again and try again. */
export function termOver(ref: ResourceRef, name: string): StatusError {
  const { code, reason, message, details } = conflict(ref, name, cause.message)
  return new StatusError(code, reason, message, { details: { ...details, causes: [cause] } })
}

export function isTermOver(thrown: unknown): boolean {
  const causes = thrown instanceof StatusError ? thrown.details?.causes : undefined
  return causes?.some(({ reason }) => reason === cause.reason) ?? false
}
