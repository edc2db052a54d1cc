/** Turns an Accept header into what may be answered, in the client's order. */
import { type AcceptClause, parseAccept } from '../../src/codec/accept.ts'

export type Format = 'json' | 'yaml'

export type Transform =
  | { readonly as: 'Table'; readonly version: 'v1' | 'v1beta1' }
  | { readonly as: 'PartialObjectMetadata'; readonly version: 'v1' | 'v1beta1' }
  | { readonly as: 'PartialObjectMetadataList'; readonly version: 'v1' | 'v1beta1' }

/** One way to answer. Without `transform` the object goes out as it is. */
export type Choice = {
  readonly format: Format
  readonly transform: Transform | undefined
  /** `pretty=1` stood at the media type. */
  readonly pretty: boolean
}

const json: Choice = { format: 'json', transform: undefined, pretty: false }

const maxCached = 256
const cache = new Map<string, readonly Choice[]>()

/** What can be served of a header, best first. Empty when nothing can: 406. */
export function choicesOf(accept: string | undefined): readonly Choice[] {
  if (accept === undefined || accept === '') return [json]
  const known = cache.get(accept)
  if (known !== undefined) return known
  const choices = parseAccept(accept).flatMap(toChoice)
  if (cache.size >= maxCached) cache.clear()
  cache.set(accept, choices)
  return choices
}

const formats: ReadonlyMap<string, Format> = new Map([
  ['*/*', 'json'],
  ['application/*', 'json'],
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
])

const transforms: ReadonlySet<string> = new Set([
  'Table',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
])

/** Nothing for a clause that cannot be satisfied: another type, or a transformation that is not known. */
function toChoice(clause: AcceptClause): readonly Choice[] {
  const format = formats.get(clause.type)
  if (format === undefined) return []
  const pretty = clause.params.get('pretty') === '1'
  const as = clause.params.get('as')
  if (as === undefined) return [{ format, transform: undefined, pretty }]
  const version = clause.params.get('v')
  if (clause.params.get('g') !== 'meta.k8s.io' || !transforms.has(as)) return []
  if (version !== 'v1' && version !== 'v1beta1') return []
  // `transforms` holds exactly the names of the union.
  return [{ format, transform: { as: as as Transform['as'], version }, pretty }]
}
