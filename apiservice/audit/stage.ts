/**
 * Tells the audit log of every request, as a policy says. Owns when an event is written and what it holds; promises that
 * no request waits for it, but for a webhook that was asked to be waited for. Three places of the chain know something: above authentication who was refused, below it
 * who asks for what and what came of it, below impersonation as whom.
 */
import { errorText } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { internal, StatusError } from '../../src/kernel/errors.ts'
import type { ApiRequest, Reply, RequestNotes, Stage, UserInfo, WatchSink } from '../contract.ts'
import { eventOf, type Facts, type Outcome } from './event.ts'
import { type Policy, type StageName, type Verdict, verdictOf } from './policy.ts'

/**
 * Takes events, each a line. What it answers is waited for before the request goes on; it never rejects, and resolves when
 * the signal aborts.
 */
export interface AuditSink {
  write(line: string, signal: AbortSignal): Promise<void> | undefined
}

export type AuditOptions = {
  readonly policy: Policy
  readonly sinks: readonly AuditSink[]
  readonly clock: Clock
}

export type AuditStages = {
  readonly strangers: Stage
  readonly requests: Stage
  readonly impersonated: Stage
}

const passOn: Stage = next => next

/** For a server that keeps no audit log. */
export const noAudit: AuditStages = { strangers: passOn, requests: passOn, impersonated: passOn }

const nobody: UserInfo = { name: '', groups: [], extra: {} }

export function auditStages(options: AuditOptions): AuditStages {
  const records = new WeakMap<RequestNotes, Record>()
  return {
    strangers: next => async (request, signal) => {
      try {
        return await next(request, signal)
      } catch (thrown) {
        // Whatever authentication says: a credential that is not good, too many of them, or nobody there to judge one.
        if (thrown instanceof StatusError && !records.has(request.notes)) {
          const record = new Record(request, nobody, options)
          await record.write('ResponseStarted', signal, strangerOutcome(request, thrown))
        }
        throw thrown
      }
    },
    requests: next => async (request, signal) => {
      const record = new Record(request, request.user, options)
      records.set(request.notes, record)
      if (record.verdict.level === 'None') return next(request, signal)
      const written = record.write('RequestReceived', signal)
      if (written !== undefined) await written
      return record.follow(Promise.try(next, request, signal), signal)
    },
    impersonated: next => (request, signal) => {
      records.get(request.notes)?.acts(request.user)
      return next(request, signal)
    },
  }
}

/** As kube-apiserver tells it, without the credential. */
function strangerOutcome({ headers, peer }: ApiRequest, thrown: StatusError): Outcome {
  const [scheme = ''] = (headers.get('authorization')?.[0] ?? '').trim().split(' ', 1)
  const attempted = [
    ...(peer.certificates.length > 0 ? ['x509'] : []),
    ...(/^(bearer|basic)$/i.test(scheme) ? [scheme.toLowerCase()] : []),
  ]
  const message =
    attempted.length === 0
      ? 'Authentication failed, no credentials provided'
      : `Authentication failed, attempted: ${attempted.join(', ')}`
  return { type: 'failure', status: { ...thrown.toStatus(), message } }
}

/** One request, from its beginning to its end. */
class Record {
  readonly request: ApiRequest
  readonly verdict: Verdict
  readonly #options: AuditOptions
  readonly #user: UserInfo
  readonly #receivedMs: number
  #impersonated: UserInfo | undefined

  constructor(request: ApiRequest, user: UserInfo, options: AuditOptions) {
    this.request = request
    this.#user = user
    this.#options = options
    this.#receivedMs = options.clock.now()
    this.verdict = verdictOf(options.policy, user, request.info)
    if (this.verdict.level !== 'None') request.notes.annotations = new Map()
  }

  acts(user: UserInfo): void {
    if (user !== this.#user) this.#impersonated = user
  }

  async follow(replying: Promise<Reply>, signal: AbortSignal): Promise<Reply> {
    try {
      const reply = await replying
      if (reply.type === 'watch') return await this.#watched(reply, signal)
      await this.write('ResponseComplete', signal, { type: 'reply', reply })
      return reply
    } catch (thrown) {
      await this.#failed(thrown, signal)
      throw thrown
    }
  }

  /** Resolves when it is told, where that is waited for. */
  write(stage: StageName, signal: AbortSignal, outcome?: Outcome): Promise<unknown> | undefined {
    const { level, omitStages, omitManagedFields } = this.verdict
    if (level === 'None' || omitStages.has(stage)) return undefined
    const { clock, sinks } = this.#options
    const facts: Facts = {
      level,
      request: this.request,
      user: this.#user,
      impersonated: this.#impersonated,
      receivedMs: this.#receivedMs,
      omitManagedFields,
    }
    const line = eventOf(facts, stage, clock.now(), outcome)
    const waited = sinks.flatMap(sink => sink.write(line, signal) ?? [])
    return waited.length === 0 ? undefined : Promise.all(waited)
  }

  #failed(thrown: unknown, signal: AbortSignal): Promise<unknown> | undefined {
    if (thrown instanceof StatusError) {
      return this.write('ResponseComplete', signal, { type: 'failure', status: thrown.toStatus() })
    }
    // A client that went away is no fault of ours.
    const status = internal(errorText(thrown)).toStatus()
    return this.write(signal.aborted ? 'ResponseComplete' : 'Panic', signal, { type: 'failure', status })
  }

  async #watched(reply: Extract<Reply, { type: 'watch' }>, asked: AbortSignal): Promise<Reply> {
    const outcome: Outcome = { type: 'reply', reply }
    await this.write('ResponseStarted', asked, outcome)
    return {
      ...reply,
      open: (sink, signal) => {
        let isOver = false
        const over = (): void => {
          if (isOver) return
          isOver = true
          // Nobody waits for the end of a watch.
          void this.write('ResponseComplete', signal, outcome)
        }
        signal.addEventListener('abort', over, { once: true })
        const told: WatchSink = {
          events: batch => sink.events(batch),
          end: () => {
            over()
            sink.end()
          },
        }
        reply.open(told, signal)
      },
    }
  }
}
