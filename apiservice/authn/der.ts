/**
 * The little that node:crypto does not tell about a certificate: which extensions it has, and how many authorities may
 * stand below it. OpenSSL has parsed the bytes before; whatever this reader does not understand is an error.
 */

type Element = { readonly tag: number; readonly content: Buffer; readonly end: number }

const tags = { boolean: 0x01, integer: 0x02, oid: 0x06, sequence: 0x30, extensions: 0xa3 }

export type Extension = { readonly critical: boolean; readonly value: Buffer }

/** By their object identifiers, as lower-case hex of the encoded bytes. Throws when the bytes are no DER certificate. */
export function extensionsOf(certificate: Buffer): ReadonlyMap<string, Extension> {
  const [tbs] = elementsOf(only(certificate, tags.sequence))
  if (tbs?.tag !== tags.sequence) throw new Error('not a certificate')
  const wrapped = elementsOf(tbs.content).find(element => element.tag === tags.extensions)
  if (wrapped === undefined) return new Map()
  const list = elementsOf(only(wrapped.content, tags.sequence)).map(({ content }) => extensionOf(content))
  const extensions = new Map(list)
  if (extensions.size !== list.length) throw new Error('an extension is there twice')
  return extensions
}

function extensionOf(content: Buffer): [string, Extension] {
  const [oid, second, third] = elementsOf(content)
  const value = third ?? second
  if (oid?.tag !== tags.oid || value === undefined) throw new Error('not an extension')
  const critical = second?.tag === tags.boolean && second.content[0] !== 0
  return [oid.content.toString('hex'), { critical, value: value.content }]
}

/** The pathLenConstraint of a basicConstraints extension; Infinity when it has none. */
export function pathLengthOf(basicConstraints: Buffer): number {
  const length = elementsOf(only(basicConstraints, tags.sequence)).find(({ tag }) => tag === tags.integer)
  if (length === undefined) return Number.POSITIVE_INFINITY
  if (length.content.length !== 1) throw new Error('path length out of range')
  return length.content.readInt8()
}

function only(bytes: Buffer, tag: number): Buffer {
  const [element, ...more] = elementsOf(bytes)
  if (element?.tag !== tag || more.length > 0) throw new Error(`expected one element with tag ${tag}`)
  return element.content
}

function elementsOf(bytes: Buffer): readonly Element[] {
  const elements: Element[] = []
  for (let at = 0; at < bytes.length; at = elements.at(-1)?.end ?? bytes.length) {
    elements.push(elementAt(bytes, at))
  }
  return elements
}

/** Definite lengths of at most four bytes and tags of one byte: all that certificates use. */
function elementAt(bytes: Buffer, at: number): Element {
  const tag = bytes[at]
  const first = bytes[at + 1]
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new Error('not DER')
  const sizeOfLength = first < 0x80 ? 0 : first - 0x80
  if (first === 0x80 || sizeOfLength > 4 || at + 2 + sizeOfLength > bytes.length) throw new Error('not DER')
  const start = at + 2 + sizeOfLength
  const end = start + (sizeOfLength === 0 ? first : bytes.readUIntBE(at + 2, sizeOfLength))
  if (end > bytes.length) throw new Error('not DER')
  return { tag, content: bytes.subarray(start, end), end }
}
