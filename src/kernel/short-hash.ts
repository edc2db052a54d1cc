import { createHash } from 'node:crypto'

const alphabet = '0123456789abcdefghijklmnopqrstuv'

/** 80 bits of the SHA-256 of the parts, as 16 letters that any Kubernetes name may hold. Parts are told apart. */
export function shortHash(...parts: readonly string[]): string {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest()
  let text = ''
  for (let bit = 0; bit < 80; bit += 5) {
    const word = digest.readUInt16BE(bit >> 3)
    text += alphabet[(word >> (11 - (bit & 7))) & 31]
  }
  return text
}
