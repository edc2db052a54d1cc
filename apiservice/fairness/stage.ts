/**
 * Lets in as many requests as the server can do at once, and lets clients wait in queues of their own, so that one who asks
 * much waits for himself. After the priority and fairness of kube-apiserver, with levels that are fixed:
 *
 * - exempt: `system:masters` and probes of health are never kept waiting and never refused.
 * - leader-election: keeping leases, so that heartbeats go on when all else waits.
 * - readonly and mutating: everything else. A watch has a seat until it begins, a long list several until it is sent.
 */
import type { Clock } from '../../src/kernel/clock.ts'
import type { Metrics } from '../../src/kernel/metrics.ts'
import { andThen, whenSettled } from '../../src/kernel/when-settled.ts'
import type { ApiRequest, Reply, Stage } from '../contract.ts'
import { Level, type LevelLimits, type Seat } from './level.ts'
import { ListWidths } from './list-widths.ts'
import { exportLevels } from './metrics.ts'

/** kube-apiserver's --max-requests-inflight and --max-mutating-requests-inflight. */
export type InFlightLimits = { readonly readOnly: number; readonly mutating: number }

export const defaultLimits: InFlightLimits = { readOnly: 400, mutating: 200 }

/** A client has at most this part of the seats of a level. */
const partOfClient = 1 / 4
/** For as many as there are seats, requests of one client wait; of all together ten times as many. */
const queuesInAll = 10
/** Of gets, some milliseconds. */
const startsOfClient = 64
/** A quarter of the time that a request has, as in kube-apiserver. */
const longestWaitMs = 15_000
/** A client that reads a long list slowly keeps its seats no longer. */
const longestSendMs = 10_000

const seatsForLeases = 40

const mutatingVerbs: ReadonlySet<string> = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
])
const keepingVerbs: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch'])
const health = /^\/(livez|readyz|healthz)(\/|$)/

export type FairnessOptions = {
  readonly clock: Clock
  readonly metrics: Metrics
  readonly limits?: InFlightLimits | undefined
}

/** Throws 429 with Retry-After when the queue of the client is full or does not move. */
export function fairness({ clock, metrics, limits = defaultLimits }: FairnessOptions): Stage {
  const level = (seats: number): Level => new Level({ clock, limits: limitsOf(seats) })
  const levels = {
    exempt: level(Number.POSITIVE_INFINITY),
    'leader-election': level(seatsForLeases),
    readonly: level(limits.readOnly),
    mutating: level(limits.mutating),
  }
  const running: Running = { readOnly: 0, mutating: 0 }
  exportLevels(metrics, levels, running)
  const widths = new ListWidths()
  return next => (request, signal) => {
    const enter = (seat: Seat): Reply | Promise<Reply> => {
      count(running, request, 1)
      return whenSettled(
        () => next(request, signal),
        reply => {
          count(running, request, -1)
          let isKept = false
          try {
            if (reply.type === 'list' && !signal.aborted)
              isKept = keepUntilSent(seat, widths.learn(request, reply), request, clock)
          } finally {
            if (!isKept) seat.release()
          }
          return reply
        },
        thrown => {
          count(running, request, -1)
          seat.release()
          throw thrown
        },
      )
    }
    const entered = levels[levelOf(request)].enter(request.user.name, widths.estimate(request), signal)
    return andThen(entered, enter)
  }
}

type Running = { readOnly: number; mutating: number }

function count(running: Running, { info: { verb } }: ApiRequest, by: number): void {
  if (mutatingVerbs.has(verb)) running.mutating += by
  else if (verb !== 'watch') running.readOnly += by
}

function limitsOf(seats: number): LevelLimits {
  return {
    seats,
    seatsOfClient: Math.max(1, Math.floor(seats * partOfClient)),
    queueOfClient: seats,
    queue: seats * queuesInAll,
    startsOfClient: Number.isFinite(seats) ? startsOfClient : seats,
    longestWaitMs,
  }
}

function levelOf({ info, path, user }: ApiRequest): 'exempt' | 'leader-election' | 'readonly' | 'mutating' {
  if (user.groups.includes('system:masters') || (!info.isResource && health.test(path))) return 'exempt'
  if (info.isResource && info.resource === 'leases' && keepingVerbs.has(info.verb)) return 'leader-election'
  return mutatingVerbs.has(info.verb) ? 'mutating' : 'readonly'
}

/** False: it is short, and sent as soon as it is made. */
function keepUntilSent(seat: Seat, width: number, { notes }: ApiRequest, clock: Clock): boolean {
  if (width === 1) return false
  seat.widen(width)
  const cancel = clock.after(longestSendMs, () => seat.release())
  notes.whenSent = () => {
    cancel()
    seat.release()
  }
  return true
}
