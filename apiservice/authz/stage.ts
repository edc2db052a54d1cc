/**
 * Asks whether a request is allowed before anything below reads its body. Promises that an open watch ends soon after the
 * permission for it has: every change of policy asks again.
 */
import { errorText } from '../../src/kernel/abort.ts'
import { internal, StatusError } from '../../src/kernel/errors.ts'
import { andThen } from '../../src/kernel/when-settled.ts'
import type { ApiRequest, Attributes, Authorizer, Decision, Reply, Stage, WatchSink } from '../contract.ts'
import { refusal } from './forbidden-answer.ts'

type WatchReply = Extract<Reply, { type: 'watch' }>

/** Throws the 403 of kube-apiserver unless the authorizer allows the request. */
export function authzStage(authorizer: Authorizer): Stage {
  return next => (request, signal) => {
    const attributes = attributesOf(request)
    const goOn = (decision: Decision): Reply | Promise<Reply> => {
      const denied = refusalOf(attributes, decision)
      note(request, denied)
      if (denied !== undefined) throw denied
      const guard = (reply: Reply): Reply =>
        reply.type === 'watch' ? guarded(reply, authorizer, attributes) : reply
      const replying = next(request, signal)
      return andThen(replying, guard)
    }
    const decision = authorizer.authorize(attributes, signal)
    return andThen(decision, goOn)
  }
}

function attributesOf({ user, info }: ApiRequest): Attributes {
  return user.isSentOn === true ? { user, info, isSentOn: true } : { user, info }
}

/** With the keys of kube-apiserver. */
function note({ notes: { annotations } }: ApiRequest, denied: StatusError | undefined): void {
  annotations?.set('authorization.k8s.io/decision', denied === undefined ? 'allow' : 'forbid')
  if (denied !== undefined) annotations?.set('authorization.k8s.io/reason', denied.message)
}

async function denial(
  authorizer: Authorizer,
  attributes: Attributes,
  signal: AbortSignal,
): Promise<StatusError | undefined> {
  return refusalOf(attributes, await authorizer.authorize(attributes, signal))
}

function refusalOf(attributes: Attributes, decision: Decision): StatusError | undefined {
  return decision.allowed === 'allow' ? undefined : refusal(attributes, decision.reason)
}

function guarded(reply: WatchReply, authorizer: Authorizer, attributes: Attributes): WatchReply {
  if (authorizer.onChange === undefined) return reply
  return {
    ...reply,
    open(sink, signal) {
      new GuardedWatch(sink, signal, inner => denial(authorizer, attributes, inner)).open(reply, authorizer)
    },
  }
}

/** Stands between a watch and its sink and cuts it off when `ask` answers with a refusal. */
class GuardedWatch {
  readonly #sink: WatchSink
  readonly #inner = new AbortController()
  readonly #ask: (signal: AbortSignal) => Promise<StatusError | undefined>
  #asking: Promise<void> | undefined
  #changes = 0

  constructor(
    sink: WatchSink,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<StatusError | undefined>,
  ) {
    this.#sink = sink
    this.#ask = ask
    if (signal.aborted) this.#inner.abort()
    else signal.addEventListener('abort', () => this.#inner.abort(), { once: true })
  }

  open(reply: WatchReply, authorizer: Authorizer): void {
    const inner = this.#inner.signal
    if (inner.aborted) return
    const stop = authorizer.onChange?.(() => this.#check())
    inner.addEventListener('abort', () => stop?.(), { once: true })
    reply.open(
      {
        events: batch => {
          if (!inner.aborted) this.#sink.events(batch)
        },
        end: () => {
          if (inner.aborted) return
          this.#inner.abort()
          this.#sink.end()
        },
      },
      inner,
    )
    // Policy may have changed between the first decision and now.
    this.#check()
  }

  /** One question at a time; changes meanwhile make one more. */
  #check(): void {
    this.#changes += 1
    this.#asking ??= this.#askUntilCurrent().catch((thrown: unknown) => this.#cut(asStatusError(thrown)))
  }

  async #askUntilCurrent(): Promise<void> {
    try {
      for (let answered = 0; answered !== this.#changes && !this.#inner.signal.aborted; ) {
        answered = this.#changes
        const denied = await this.#ask(this.#inner.signal)
        if (denied !== undefined) this.#cut(denied)
      }
    } finally {
      this.#asking = undefined
    }
  }

  #cut(error: StatusError): void {
    if (this.#inner.signal.aborted) return
    this.#inner.abort()
    this.#sink.events([{ type: 'ERROR', status: error.toStatus() }])
    this.#sink.end()
  }
}

function asStatusError(thrown: unknown): StatusError {
  return thrown instanceof StatusError ? thrown : internal(errorText(thrown), thrown)
}
