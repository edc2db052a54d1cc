/** Brings events to the server of an audit webhook. */
import { readText } from '../cluster/body.ts'
import { Transport, type TransportOptions } from '../cluster/transport.ts'
import { unlessAborted, within } from '../kernel/abort.ts'
import { unavailable } from '../kernel/errors.ts'

const json = 'application/json'
const maxAnswerBytes = 1024 * 1024
/** For all of an answer: a server may send its head and then nothing. */
const answerWithinMs = 30_000

export type AuditPost = {
  /** Answers the status. Rejects when no whole answer comes. */
  post(body: string, signal: AbortSignal): Promise<number>
  close(): void
}

export function auditPost(options: TransportOptions): AuditPost {
  const transport = new Transport(options)
  const { search } = new URL(options.servers[0] ?? '')
  const late = (): Error => unavailable(`no whole answer within ${answerWithinMs / 1000} s`)
  const exchange = async (body: string, signal: AbortSignal): Promise<number> => {
    const request = { method: 'POST', path: search, accept: json, contentType: json, body } as const
    const answer = await transport.send(request, signal)
    // The connection is free for the next one when all has been read.
    await readText(answer, maxAnswerBytes)
    return answer.statusCode ?? 0
  }
  return {
    post: (body, signal) =>
      within(options.clock, answerWithinMs, late, over => {
        const either = AbortSignal.any([signal, over])
        return unlessAborted(exchange(body, either), either)
      }),
    close: () => transport.close(),
  }
}
