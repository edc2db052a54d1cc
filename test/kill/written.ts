/** What the killed writer writes, so that whoever looks afterwards knows what must be there. */
import type { ObjectKey } from '../../apiservice/store-contract.ts'

export const killResource = 'items.kill.test'

export function itemKey(writer: number, round: number): ObjectKey {
  return { resource: killResource, namespace: `writer-${writer}`, name: `item-${round}` }
}

export function counterKey(writer: number): ObjectKey {
  return { resource: killResource, namespace: `writer-${writer}`, name: 'counter' }
}

/** Between a few bytes and 3 KiB. */
export function bodyOfRound(writer: number, round: number): Buffer {
  return Buffer.from(
    JSON.stringify({ writer, round, filling: 'x'.repeat((writer * 131 + round * 977) % 3000) }),
  )
}

export function roundOf(body: Buffer): number {
  const value: unknown = JSON.parse(body.toString())
  return typeof value === 'object' && value !== null && 'round' in value ? Number(value.round) : Number.NaN
}
