/** Clients of several hubs at once, and all that they asked, heard and watched. */
import { ConfigMapKind } from '../../src/api/kinds/config-map.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { type Resource, resource } from '../../src/cluster/cluster.ts'
import { isReason } from '../../src/kernel/errors.ts'
import type { Answer, Call, Operation } from '../support/linearizability.ts'
import { requireUnanswered } from '../support/replica-watcher.ts'
import { type Hub, hubs, type Replicas } from '../support/replicas.ts'

/** Tests look at data as plain JSON. */
export const configMaps = resource(ConfigMapKind) as Resource
export const namespace = 'default'
const requestMs = 20_000
/** Rounds of a client on one set of keys: histories of one key stay short enough to be searched. */
const roundsOfKeys = 12
const keysAtOnce = 2

/** A revision that was answered, and when it was asked for. */
type Heard = { readonly calledAt: number; readonly answeredAt: number; readonly revision: number }

export class ReplicaLoad {
  readonly history: Operation[] = []
  /** Of lists, which are of the newest revision. */
  readonly lists: Heard[] = []
  /** By revision: the name and the value of each write that was answered. */
  readonly written = new Map<number, string>()
  readonly #replicas: Replicas
  readonly #random: () => number
  #tick = 0

  constructor(replicas: Replicas, random: () => number) {
    this.#replicas = replicas
    this.#random = random
  }

  /** One request after the other until the signal aborts, to any hub, and to another when that one is away. */
  async client(at: number, signal: AbortSignal): Promise<void> {
    const clients = hubs.map((_, first) => this.#replicas.client(...turned(first)))
    const heard = new Map<string, number>()
    for (let round = 0; !signal.aborted; round++) {
      const client = clients[this.#below(clients.length)]
      const key = `load-${Math.floor(round / roundsOfKeys)}-${this.#below(keysAtOnce)}`
      if (client !== undefined) await this.#ask(client, { at, key, value: `${at}-${round}` }, heard)
    }
  }

  async #ask(
    client: ClusterClient,
    { at, key, value }: { readonly at: number; readonly key: string; readonly value: string },
    heard: Map<string, number>,
  ): Promise<void> {
    const expected = heard.get(key)
    const dice = this.#random()
    if (dice < 0.1) return this.#list(client)
    const call = callOf(dice, value, expected)
    const calledAt = ++this.#tick
    const answer = await this.#answerOf(client, key, call)
    if (answer === 'refused') {
      heard.delete(key)
      return
    }
    const answeredAt = answer === 'unknown' ? Number.POSITIVE_INFINITY : ++this.#tick
    const asked = { client: at, key, calledAt, answeredAt, call }
    this.history.push(answer === 'unknown' ? asked : { ...asked, answer })
    if (answer === 'unknown') return
    if (answer.version > 0) heard.set(key, answer.version)
    if (call.verb !== 'get') this.written.set(answer.version, `${key}=${value}`)
  }

  async #list(client: ClusterClient): Promise<void> {
    const calledAt = ++this.#tick
    try {
      const { resourceVersion } = await client.list(configMaps, { namespace }, AbortSignal.timeout(requestMs))
      this.lists.push({ calledAt, answeredAt: ++this.#tick, revision: Number(resourceVersion) })
    } catch (thrown) {
      requireUnanswered(thrown)
    }
  }

  async #answerOf(client: ClusterClient, name: string, call: Call): Promise<Answer | 'unknown' | 'refused'> {
    const signal = AbortSignal.timeout(requestMs)
    try {
      const found = await this.#send(client, { namespace, name }, call, signal)
      const { data } = found as { readonly data?: { readonly value?: string } } // it is a ConfigMap
      return { done: true, version: Number(found.metadata.resourceVersion), value: data?.value }
    } catch (thrown) {
      if (call.verb === 'get' && isReason(thrown, 'NotFound'))
        return { done: true, version: 0, value: undefined }
      if (isReason(thrown, 'Conflict', 'AlreadyExists', 'NotFound', 'TooManyRequests')) return 'refused'
      requireUnanswered(thrown)
      // A read that was not answered says nothing.
      return call.verb === 'get' ? 'refused' : 'unknown'
    }
  }

  #send(
    client: ClusterClient,
    ref: { readonly namespace: string; readonly name: string },
    call: Call,
    signal: AbortSignal,
  ): Promise<KubeObject> {
    if (call.verb === 'get' || call.verb === 'delete') return client.get(configMaps, ref, signal)
    const object = { apiVersion: 'v1', kind: 'ConfigMap', data: { value: call.value } }
    if (call.verb === 'create') return client.create(configMaps, { ...object, metadata: ref }, signal)
    const metadata = { ...ref, resourceVersion: String(call.expected) }
    return client.replace(configMaps, { ...object, metadata }, {}, signal)
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count)
  }
}

function callOf(dice: number, value: string, expected: number | undefined): Call {
  if (dice < 0.4) return { verb: 'get' }
  return expected === undefined ? { verb: 'create', value } : { verb: 'update', value, expected }
}

function turned(first: number): readonly Hub[] {
  return [...hubs.slice(first), ...hubs.slice(0, first)]
}
