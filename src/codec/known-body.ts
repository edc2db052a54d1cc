import type { KubeObject } from '../api/meta.ts'
import { type BodyFields, bodyFields } from './body-fields.ts'

/** An object as it was decoded from a body, or encoded as one. */
export class KnownBody {
  readonly object: KubeObject
  readonly body: Buffer
  #fields: BodyFields | undefined | 'unread' = 'unread'

  constructor(object: KubeObject, body: Buffer) {
    this.object = object
    this.body = body
  }

  /** Where its fields lie; undefined when that is not easily told. */
  get fields(): BodyFields | undefined {
    if (this.#fields === 'unread') this.#fields = bodyFields(this.body)
    return this.#fields
  }
}
