import { Agent, request } from 'node:https'
import { systemClock } from '../../src/kernel/clock.ts'

export type Target = {
  readonly port: number
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export type Call = { readonly method: string; readonly path: string; readonly body?: string }

export type Rate = {
  readonly perSecond: number
  readonly medianMs: number
  readonly p99Ms: number
  /** Answers with another code than 200 or 201. */
  readonly failures: number
}

function agentOf(target: Target, maxSockets: number): Agent {
  return new Agent({
    keepAlive: true,
    maxSockets,
    rejectUnauthorized: target.ca !== undefined,
    ...(target.ca === undefined ? {} : { ca: target.ca }),
    ...(target.cert === undefined ? {} : { cert: target.cert, key: target.key }),
  })
}

function once(agent: Agent, target: Target, call: Call): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = call.body === undefined ? {} : { 'content-type': 'application/json' }
    const sent = request(
      { agent, host: '127.0.0.1', port: target.port, method: call.method, path: call.path, headers },
      answer => {
        answer.resume()
        answer.on('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    sent.on('error', reject)
    sent.end(call.body)
  })
}

/** One request; the status code. */
export async function send(target: Target, call: Call): Promise<number> {
  const agent = agentOf(target, 1)
  try {
    return await once(agent, target, call)
  } finally {
    agent.destroy()
  }
}

export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

/** `clients` connections that each send one request after the other for `durationMs`. */
export async function load(
  target: Target,
  options: { readonly clients: number; readonly durationMs: number },
  next: (n: number) => Call,
): Promise<Rate> {
  const agent = agentOf(target, options.clients)
  const latencies: number[] = []
  let failures = 0
  let sent = 0
  const started = performance.now()
  const until = systemClock.now() + options.durationMs
  const client = async (): Promise<void> => {
    while (systemClock.now() < until) {
      const at = performance.now()
      const code = await once(agent, target, next(sent++))
      latencies.push(performance.now() - at)
      if (code !== 200 && code !== 201) failures++
    }
  }
  await Promise.all(Array.from({ length: options.clients }, client))
  const seconds = (performance.now() - started) / 1000
  agent.destroy()
  latencies.sort((a, b) => a - b)
  return {
    perSecond: latencies.length / seconds,
    medianMs: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    failures,
  }
}
