import { createSocket } from 'node:dgram'
import { isIPv6 } from 'node:net'
import type { Clock } from '../../src/kernel/clock.ts'
import { unavailable } from '../../src/kernel/errors.ts'

const timeoutMs = 2_000
const loopback: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

export type SelfQuery = { readonly host: string; readonly port: number; readonly message: Buffer }

/** Resolves when whoever has the UDP port answers the message, rejects after two seconds. */
export function queryItself(query: SelfQuery, clock: Clock, signal: AbortSignal): Promise<void> {
  const host = loopback[query.host] ?? query.host
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  const answered = new Promise<void>((resolve, reject) => {
    const fail = (): void => reject(unavailable(`dns: UDP ${host}:${query.port} does not answer`))
    const cancel = clock.after(timeoutMs, fail)
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    socket.once('close', () => {
      cancel()
      signal.removeEventListener('abort', onAbort)
    })
    socket.once('error', fail)
    socket.once('message', () => resolve())
    // Connected, so that a port that nobody has is told at once.
    socket.connect(query.port, host, () => socket.send(query.message))
  })
  return answered.finally(() => socket.close())
}
