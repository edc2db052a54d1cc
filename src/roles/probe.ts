/** Health and metrics of a process that serves no API, over plain HTTP. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { errorText } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Context, Running } from './context.ts'

export type ProbeOptions = {
  readonly host: string
  readonly port: number
  /** Throws or rejects when the process had better be started anew. */
  alive(signal: AbortSignal): Promise<void>
  ready(): boolean
}

type Answer = { readonly code: number; readonly body: string }

const answerWithinMs = 5_000
const headers = {
  'content-type': 'text/plain; version=0.0.4; charset=utf-8',
  // Probes come seldom: a kept connection would only end under the hands of whoever uses it again.
  connection: 'close',
}

/** Answers GET on /livez, /readyz, /healthz and /metrics. */
export async function startProbe(options: ProbeOptions, { clock, metrics }: Context): Promise<Running> {
  const answers = new Map<string, (signal: AbortSignal) => Promise<Answer>>([
    ['/livez', signal => health(options.alive(signal))],
    ['/healthz', signal => health(options.alive(signal))],
    ['/readyz', () => Promise.resolve(options.ready() ? good : notReady)],
    ['/metrics', async () => ({ code: 200, body: await metrics.text() })],
  ])
  const server = createServer({ maxHeaderSize: 16_384 }, (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    const asked = request.method === 'GET' || request.method === 'HEAD'
    const answer = asked ? answers.get(path) : undefined
    // Never rejects: whatever goes wrong is the answer.
    void answered(answer, clock).then(({ code, body }) => response.writeHead(code, headers).end(body))
  })
  server.listen(options.port, options.host)
  await once(server, 'listening')
  return {
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function answered(
  answer: ((signal: AbortSignal) => Promise<Answer>) | undefined,
  clock: Clock,
): Promise<Answer> {
  const stop = new AbortController()
  const cancel = clock.after(answerWithinMs, () => stop.abort(new Error('took too long')))
  try {
    return (await answer?.(stop.signal)) ?? unknown
  } catch (thrown) {
    return { code: 500, body: `${errorText(thrown)}\n` }
  } finally {
    cancel()
  }
}

const good: Answer = { code: 200, body: 'ok\n' }
const notReady: Answer = { code: 503, body: 'not ready\n' }
const unknown: Answer = { code: 404, body: 'not found\n' }

async function health(check: Promise<void>): Promise<Answer> {
  await check
  return good
}
