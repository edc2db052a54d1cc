/**
 * Tells the audit log of every request, as a policy says. Owns when an event is written and what it holds; promises that
 * no request waits for the log. Three places of the chain know something: above authentication who was refused, below it
 * who asks for what and what came of it, below impersonation as whom.
 */
import { errorText } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { internal, isReason, StatusError } from '../../src/kernel/errors.ts'
import type { ApiRequest, Reply, RequestNotes, Stage, UserInfo, WatchSink } from '../contract.ts'
import { eventOf, type Facts, type Outcome } from './event.ts'
import { type Policy, type StageName, type Verdict, verdictOf } from './policy.ts'

export type AuditOptions = {
  readonly policy: Policy
  readonly log: { write(line: string): void }
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
        if (isReason(thrown, 'Unauthorized') && !records.has(request.notes)) {
          const record = new Record(request, nobody, options)
          record.write('ResponseStarted', strangerOutcome(request, thrown))
        }
        throw thrown
      }
    },
    requests: next => async (request, signal) => {
      const record = new Record(request, request.user, options)
      records.set(request.notes, record)
      if (record.verdict.level === 'None') return next(request, signal)
      record.write('RequestReceived')
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
      if (reply.type === 'watch') return this.#watched(reply)
      this.write('ResponseComplete', { type: 'reply', reply })
      return reply
    } catch (thrown) {
      this.#failed(thrown, signal)
      throw thrown
    }
  }

  write(stage: StageName, outcome?: Outcome): void {
    const { level, omitStages, omitManagedFields } = this.verdict
    if (level === 'None' || omitStages.has(stage)) return
    const { clock, log } = this.#options
    const facts: Facts = {
      level,
      request: this.request,
      user: this.#user,
      impersonated: this.#impersonated,
      receivedMs: this.#receivedMs,
      omitManagedFields,
    }
    log.write(eventOf(facts, stage, clock.now(), outcome))
  }

  #failed(thrown: unknown, signal: AbortSignal): void {
    if (thrown instanceof StatusError) {
      this.write('ResponseComplete', { type: 'failure', status: thrown.toStatus() })
      return
    }
    // A client that went away is no fault of ours.
    const status = internal(errorText(thrown)).toStatus()
    this.write(signal.aborted ? 'ResponseComplete' : 'Panic', { type: 'failure', status })
  }

  #watched(reply: Extract<Reply, { type: 'watch' }>): Reply {
    const outcome: Outcome = { type: 'reply', reply }
    this.write('ResponseStarted', outcome)
    return {
      ...reply,
      open: (sink, signal) => {
        let isOver = false
        const over = (): void => {
          if (isOver) return
          isOver = true
          this.write('ResponseComplete', outcome)
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
