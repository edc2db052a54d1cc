// A way from loopback into the network of a process.
import { type Daemon, daemon, here } from './daemon.ts'
import { freePort } from './ready.ts'

export type ForwardOptions = {
  readonly lab: string
  readonly log: string
  readonly tools: string
  /** Of a process in that network. */
  readonly pid: number
  /** `host:port` there. */
  readonly target: string
}

/** The URL on loopback of a server in the namespaces of the process. */
export async function forwardPort({ lab, log, pid, target, tools }: ForwardOptions): Promise<string> {
  const listen = `127.0.0.1:${await freePort()}`
  const forward: Daemon = daemon({
    lab,
    log,
    place: here,
    argv: () => [tools, 'forward', listen, String(pid), target],
  })
  forward.start()
  return `https://${listen}`
}
