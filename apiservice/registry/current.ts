/** What a change starts from: the stored object as a request sees it. */
import { applyDefaults, prune } from '../../src/api/derive/validate.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import { type KubeObject, withoutVersion } from '../../src/api/meta.ts'
import { KnownBody } from '../../src/codec/known-body.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import { KeyMap } from '../../src/kernel/key-map.ts'
import type { ObjectKey, StoredObject } from '../store-contract.ts'

/** A kind as a request asks for it. */
type Served = { readonly kind: AnyKind; readonly apiVersion: string }

/** The stored object; `object` has it at the version of the request, with defaults and resourceVersion. */
export type Current = {
  readonly stored: StoredObject
  /** As `object`, without defaults: what a patch is for. Nobody changes either. */
  readonly document: KubeObject
  readonly object: KubeObject
  /** As `object`, without resourceVersion: as states are compared and stored. */
  readonly bare: KubeObject
  /** `document`, at the version in which it was written, beside its bytes. */
  readonly known: KnownBody
  /** This process has written it, and it is pruned and valid by the rules that hold now. */
  readonly isProven: boolean
}

export function currentOf({ kind, apiVersion }: Served, stored: StoredObject): Current {
  const document = decodeBody(apiVersion, kind.kind, stored)
  const object = applyDefaults(kind, document)
  const known = new KnownBody(document, stored.body)
  return { stored, document, object, bare: withoutVersion(object), known, isProven: false }
}

/** What of the object, with its resourceVersion, needs no second look; undefined when everything does. */
export function provenOf({ isProven, object }: Current): KubeObject | undefined {
  return isProven ? object : undefined
}

/** As `provenOf`, of the object without its resourceVersion. */
export function provenBareOf({ isProven, bare }: Current): KubeObject | undefined {
  return isProven ? bare : undefined
}

/** Of the bodies: the objects themselves take twice to three times that. */
const maxBytes = 4 * 1024 * 1024

/**
 * Objects as they were last written, so that the next change of one need not decode it, and sees by identity what stays as
 * it is. When they are too many all are forgotten: what is changed again soon comes back.
 */
export class WrittenObjects {
  readonly #objects = new KeyMap<Current>()
  readonly #maxBytes: number
  #bytes = 0

  constructor(limit = maxBytes) {
    this.#maxBytes = limit
  }

  find(resource: Served, stored: StoredObject): Current | undefined {
    const last = this.last(resource, stored)
    return last?.stored === stored ? last : undefined
  }

  /** What was written there last, by this process. */
  last(resource: Served, key: ObjectKey): Current | undefined {
    const found = this.#objects.get(key)
    if (found === undefined || found.document.apiVersion === resource.apiVersion) return found
    const { document, object, bare } = found
    const { apiVersion } = resource
    const served = { ...document, apiVersion }
    const filled = object === document ? served : { ...object, apiVersion }
    return { ...found, document: served, object: filled, bare: { ...bare, apiVersion } }
  }

  /** `object` was admitted in the place of `before`, and is stored as `stored`, of which it has every byte. */
  put(resource: Served, stored: StoredObject, object: KubeObject, before: Current): void {
    this.#bytes -= this.#objects.get(stored)?.stored.body.length ?? 0
    if (this.#bytes + stored.body.length > this.#maxBytes) {
      this.#objects.clear()
      this.#bytes = 0
    }
    const bare = applyDefaults(resource.kind, object, provenBareOf(before))
    const document = withVersion(object, stored)
    const filled = bare === object ? document : withVersion(bare, stored)
    const isProven = before.isProven || isPruned(resource.kind, document)
    const known = new KnownBody(document, stored.body)
    this.#objects.set(stored, { stored, document, object: filled, bare, known, isProven })
    this.#bytes += stored.body.length
  }
}

/** What a change leaves as it was may be of a time when the kind had other fields. */
function isPruned(kind: AnyKind, document: KubeObject): boolean {
  return prune(kind, document).unknown.length === 0
}

function withVersion(object: KubeObject, { revision }: StoredObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } }
}
