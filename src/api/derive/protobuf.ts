/** Writes JSON values as protocol buffers, by tables that say which field of a message has which number and type. */

/** Writes one value of a field, with its tag; nothing for values that the type does not have. */
export type FieldWriter = (number: number, value: unknown) => readonly Buffer[]

/** What becomes of one member of an object: the number of its field, and how it is written. */
type Field = readonly [number, FieldWriter]

export type Message = {
  readonly fields: Readonly<Record<string, Field>>
  /** Takes members whose names begin with `x-`. */
  readonly extensions?: number
}

function varint(value: number | bigint): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}

const wire = { varint: 0, fixed64: 1, bytes: 2 } as const

function tag(number: number, type: number): Buffer {
  return varint(number * 8 + type)
}

function bytesField(number: number, content: Buffer): readonly Buffer[] {
  return [tag(number, wire.bytes), varint(content.length), content]
}

export const text: FieldWriter = (number, value) =>
  typeof value === 'string' ? bytesField(number, Buffer.from(value, 'utf8')) : []

export const flag: FieldWriter = (number, value) =>
  value === true ? [tag(number, wire.varint), varint(1)] : []

export const integer: FieldWriter = (number, value) =>
  typeof value === 'number' ? [tag(number, wire.varint), varint(value)] : []

export const double: FieldWriter = (number, value) => {
  if (typeof value !== 'number') return []
  const content = Buffer.alloc(8)
  content.writeDoubleLE(value)
  return [tag(number, wire.fixed64), content]
}

/** One field for each item of a list. A value that is no list is written once. */
export const repeated =
  (writer: FieldWriter): FieldWriter =>
  (number, value) => {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value]
    return items.flatMap(item => writer(number, item))
  }

/** A message around one value. The message is looked up late, so that messages may hold themselves. */
export const nested =
  (message: () => Message): FieldWriter =>
  (number, value) =>
    typeof value === 'object' && value !== null ? bytesField(number, encodeMessage(message(), value)) : []

/** A message with one field, whatever the value is. */
export const wrapped =
  (inner: number, writer: FieldWriter): FieldWriter =>
  (number, value) =>
    bytesField(number, Buffer.concat(writer(inner, value)))

/** A map, as messages of a name and a value. */
export const named =
  (writer: FieldWriter): FieldWriter =>
  (number, value) =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, inner]) =>
          bytesField(number, Buffer.concat([...text(1, name), ...writer(2, inner)])),
        )
      : []

/** Any value, as YAML in the second field of a message; JSON is YAML. */
export const asYaml: FieldWriter = (number, value) =>
  bytesField(number, Buffer.concat(text(2, JSON.stringify(value))))

export function encodeMessage(message: Message, value: object): Buffer {
  const chunks = Object.entries(value).flatMap(([name, inner]) => {
    const field = message.fields[name]
    if (field !== undefined) return field[1](field[0], inner)
    const isExtension = name.startsWith('x-') && message.extensions !== undefined
    return isExtension ? named(asYaml)(message.extensions ?? 0, { [name]: inner }) : []
  })
  return Buffer.concat(chunks)
}
