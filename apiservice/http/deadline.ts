import type { Clock } from '../../src/kernel/clock.ts'
import { badRequest, timedOut } from '../../src/kernel/errors.ts'
import type { ApiRequest, Reply, Stage } from '../contract.ts'
import { parseGoDuration } from './duration.ts'

const maxMs = 60_000

/**
 * Bounds every request but watches: by `?timeout=`, at most 60 s. When it has passed the signal aborts and the client
 * gets 504; what was written then may still be there. A time that is not above zero is none.
 */
export function deadline(clock: Clock): Stage {
  return next => (request, signal) => {
    if (request.info.verb === 'watch') return next(request, signal)
    const timeoutMs = timeoutOf(request)
    return new Promise<Reply>((resolve, reject) => {
      const cancel = clock.after(timeoutMs, () => {
        const late = timedOut('Timeout: request did not complete within the allotted timeout')
        request.notes.giveUp(late)
        reject(late)
      })
      Promise.try(next, request, signal).then(
        reply => {
          cancel()
          resolve(reply)
        },
        (thrown: unknown) => {
          cancel()
          reject(thrown)
        },
      )
    })
  }
}

function timeoutOf(request: ApiRequest): number {
  const text = request.query.get('timeout')
  if (text === null || text === '') return maxMs
  const timeout = parseGoDuration(text)
  if ('fault' in timeout) throw badRequest(`invalid timeout specified in the request URL - ${timeout.fault}`)
  return timeout.ms <= 0 ? maxMs : Math.min(timeout.ms, maxMs)
}
