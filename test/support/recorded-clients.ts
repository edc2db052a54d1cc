// Clients of stores that write down what they ask and hear, for `violation` of linearizability.ts.
import type { Store, StoredObject } from '../../apiservice/store-contract.ts'
import { StatusError } from '../../src/kernel/errors.ts'
import { turn } from '../../src/kernel/turn.ts'
import { aKey } from '../conformance/store/harness.ts'
import type { Answer, Call, Operation } from './linearizability.ts'

export type Choice = { readonly key: string; readonly verb: Call['verb'] }

function answerOf(done: boolean, object: StoredObject | undefined): Answer {
  return { done, version: object?.revision ?? 0, value: object?.body.toString() }
}

function callOf({ verb }: Choice, value: string, expected: number): Call {
  if (verb === 'get') return { verb }
  if (verb === 'create') return { verb, value }
  return verb === 'delete' ? { verb, expected } : { verb, value, expected }
}

/** Clients that write down what they ask and what they hear, on one clock that counts. */
export class History {
  readonly operations: Operation[] = []
  #tick = 0
  readonly #stores: readonly Store[]

  /** Clients go to one store after the other. */
  constructor(...stores: readonly Store[]) {
    this.#stores = stores
  }

  /** One after the other, expecting the version that this client has heard of last. */
  async client(client: number, choices: Iterable<Choice>, rest: () => Promise<void> = turn): Promise<void> {
    const heard = new Map<string, number>()
    let index = client
    for (const choice of choices) {
      const store = this.#stores[index++ % this.#stores.length]
      if (store === undefined) throw new Error('there is no store')
      const call = callOf(choice, `${client}-${index}`, heard.get(choice.key) ?? 0)
      const calledAt = ++this.#tick
      const answer = await ask(store, choice.key, call)
      if (answer !== 'not taken') this.#note({ client, key: choice.key, calledAt, call }, answer)
      if (typeof answer === 'object') heard.set(choice.key, answer.version)
      await rest()
    }
  }

  #note(asked: Pick<Operation, 'client' | 'key' | 'calledAt' | 'call'>, answer: Answer | undefined): void {
    if (answer === undefined) this.operations.push({ ...asked, answeredAt: Number.POSITIVE_INFINITY })
    else this.operations.push({ ...asked, answeredAt: ++this.#tick, answer })
  }
}

async function ask(store: Store, name: string, call: Call): Promise<Answer | 'not taken' | undefined> {
  const key = aKey(`shop/${name}`)
  try {
    if (call.verb === 'get') return answerOf(true, await store.get(key))
    const result = await write(store, key, call)
    if (!result.done) return answerOf(false, result.current)
    return answerOf(true, result.object)
  } catch (thrown) {
    if (!(thrown instanceof StatusError) || thrown.code !== 503) throw thrown
    return thrown.message.includes('unknown') ? undefined : 'not taken'
  }
}

function write(
  store: Store,
  key: ReturnType<typeof aKey>,
  call: Exclude<Call, { verb: 'get' }>,
): ReturnType<Store['create']> {
  if (call.verb === 'create') return store.create(key, Buffer.from(call.value))
  if (call.verb === 'delete') return store.delete(key, call.expected)
  return store.update(key, call.expected, Buffer.from(call.value))
}
