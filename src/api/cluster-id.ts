/** Ids of clusters (KEP-2149, KEP-1645): one or two DNS labels of at most 63 characters in all, so that an id is a label value too. */
import { createHash } from 'node:crypto'

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const form = new RegExp(`^${label}([.]${label})?$`)
const maxLength = 63
const prefix = 'member-'

/** What is wrong with a cluster id; undefined when it is good. */
export function clusterIdProblem(id: string): string | undefined {
  if (id.length <= maxLength && form.test(id)) return undefined
  return `must be one or two DNS labels of lower-case letters, digits and '-', joined by a dot, at most ${maxLength} characters (such as "east" or "east.example")`
}

/**
 * The namespace on the hub in which a member writes: `member-<id>`, and for ids that do not fit or are not one label a
 * name that ends in eight digits of the id's SHA-256.
 */
export function memberNamespace(id: string): string {
  if (!id.includes('.') && prefix.length + id.length <= maxLength) return `${prefix}${id}`
  const sum = createHash('sha256').update(id).digest('hex').slice(0, 8)
  const readable = id.replaceAll('.', '-').slice(0, maxLength - prefix.length - sum.length - 1)
  return `${prefix}${readable.replace(/(?<!-)-+$/, '')}-${sum}`
}
