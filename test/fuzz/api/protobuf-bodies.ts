/** Bodies as client-go sends them, with damage behind the first four bytes, which say what they are. */
import { type AnyKind, apiVersionOf } from '../../../src/api/kind.ts'
import bodies from '../../support/client-go-bodies.json' with { type: 'json' }
import { type Next, oneOf } from '../random.ts'
import { damagedBytes } from './damage.ts'

const magicLength = 4

type Body = { readonly kind: AnyKind; readonly name: string; readonly bytes: Buffer }

/** Undefined when none of the kinds is sent like that. */
export function protobufBody(kinds: readonly AnyKind[], next: Next): Body | undefined {
  const sent = oneOf(bodies, next)
  const kind = kinds.find(
    one =>
      one.kind === sent?.json.kind &&
      one.versions.some(({ name }) => apiVersionOf(one, name) === sent.json.apiVersion),
  )
  if (kind === undefined || sent === undefined) return undefined
  const { metadata } = sent.json as { readonly metadata?: { readonly name?: string } }
  let bytes = Buffer.from(sent.protobuf, 'base64')
  for (let left = next(4); left > 0; left--) {
    bytes = Buffer.concat([bytes.subarray(0, magicLength), damagedBytes(bytes.subarray(magicLength), next)])
  }
  return { kind, name: metadata?.name ?? 'sample', bytes }
}
