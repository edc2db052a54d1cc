import { hash } from 'node:crypto'

const alphabet = '0123456789abcdefghijklmnopqrstuv'

/** 80 bits of the SHA-256 of the parts, as 16 letters that any Kubernetes name may hold. Parts are told apart. */
export function shortHash(...parts: readonly string[]): string {
  return base32Hex(hash('sha256', JSON.stringify(parts), 'buffer'), 16)
}

/** The first letters of base32hex (RFC 4648 §7) in lower case; five bits make one. */
export function base32Hex(bytes: Buffer, letters: number): string {
  let text = ''
  for (let bit = 0; bit < letters * 5; bit += 5) {
    const word = bytes.readUInt16BE(bit >> 3)
    text += alphabet[(word >> (11 - (bit & 7))) & 31]
  }
  return text
}
