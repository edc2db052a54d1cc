/**
 * What lies where in etcd, below a prefix:
 *
 *     format                               how all of it is laid out
 *     floor                                where the history begins; everything older may be compacted
 *     owner                                changed whenever a process takes the store for itself
 *     lock                                 there while a process has the store for itself
 *     servers/ID                           there while a process has the store together with others
 *     last                                 the last state of the object that is deleted at the same revision
 *     objects/RESOURCE/NAMESPACE/NAME      the newest version of an object
 *
 * A value is a byte that names its layout, the time of the write in milliseconds as a double, and the body.
 */
import type { ObjectKey } from '../../store-contract.ts'
import type { KeyRange } from './messages.ts'

const headBytes = 9
const layout = 1

export type Value = { readonly at: number; readonly body: Buffer }

export class EtcdLayout {
  readonly format: Buffer
  readonly floor: Buffer
  readonly last: Buffer
  readonly owner: Buffer
  readonly lock: Buffer
  readonly servers: KeyRange
  readonly all: KeyRange
  readonly objects: KeyRange
  readonly #objectsAt: string

  constructor(prefix: string) {
    this.#objectsAt = `${prefix}/objects/`
    this.format = Buffer.from(`${prefix}/format`)
    this.floor = Buffer.from(`${prefix}/floor`)
    this.last = Buffer.from(`${prefix}/last`)
    this.owner = Buffer.from(`${prefix}/owner`)
    this.lock = Buffer.from(`${prefix}/lock`)
    this.servers = rangeOf(`${prefix}/servers/`)
    this.all = rangeOf(`${prefix}/`)
    this.objects = rangeOf(this.#objectsAt)
  }

  keyOf({ resource, namespace, name }: ObjectKey): Buffer {
    return Buffer.from(`${this.#objectsAt}${escaped(resource)}/${escaped(namespace)}/${escaped(name)}`)
  }

  serverOf(id: string): Buffer {
    return Buffer.concat([this.servers.key, Buffer.from(id)])
  }

  /** Undefined for what is no key of an object. */
  objectAt(key: Buffer): ObjectKey | undefined {
    const text = key.toString()
    if (!text.startsWith(this.#objectsAt)) return undefined
    const [resource, namespace, name, more] = text.slice(this.#objectsAt.length).split('/').map(unescaped)
    if (resource === undefined || namespace === undefined || name === undefined) return undefined
    return more === undefined ? { resource, namespace, name } : undefined
  }
}

export function encodeValue({ at, body }: Value): Buffer {
  const value = Buffer.allocUnsafe(headBytes + body.length)
  value.writeUInt8(layout, 0)
  value.writeDoubleBE(at, 1)
  body.copy(value, headBytes)
  return value
}

/** Undefined for what was not written by a store. The body has memory of its own, so that it keeps no answer alive. */
export function decodeValue(value: Buffer): Value | undefined {
  if (value.length < headBytes || value[0] !== layout) return undefined
  const body = Buffer.allocUnsafeSlow(value.length - headBytes)
  value.copy(body, 0, headBytes)
  return { at: value.readDoubleBE(1), body }
}

/** All keys that begin with a text, which does not end with the highest byte. */
function rangeOf(start: string): KeyRange {
  const key = Buffer.from(start)
  const end = Buffer.from(key)
  end.writeUInt8(end.readUInt8(end.length - 1) + 1, end.length - 1)
  return { key, end }
}

/** Slashes separate the parts of a key. */
function escaped(part: string): string {
  return part.replaceAll('%', '%25').replaceAll('/', '%2F')
}

function unescaped(part: string): string {
  return part.replaceAll('%2F', '/').replaceAll('%25', '%')
}
