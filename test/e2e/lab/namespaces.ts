// The namespaces of the fabric and of nodes. They have no names: they end with their first process, whatever happens.
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import { run } from './command.ts'
import { childOf, daemon, here, type Place } from './daemon.ts'

export type Namespaces = {
  readonly place: Place
  /** Of the first process in them, as this machine counts. */
  readonly pid: number
}

export type NamespacesOptions = {
  readonly lab: string
  /** Also the host name in them. */
  readonly name: string
  /** Of the namespaces' files. */
  readonly folder: string
  readonly tools: string
  /** Shell commands that run in them before anything else. */
  readonly setUp: readonly string[]
}

const startMs = 20_000

/** Namespaces of network, mounts, processes and host name of their own; all in them ends with `unshare`. */
export async function makeNamespaces(options: NamespacesOptions): Promise<Namespaces> {
  const { folder, lab, name, tools } = options
  mkdirSync(folder, { recursive: true })
  const ready = join(folder, 'namespaces.ready')
  rmSync(ready, { force: true })
  const kinds = ['--net', '--mount', '--uts', '--pid', '--fork', '--kill-child', '--mount-proc']
  const script = [
    `hostname ${name}`,
    'ip link set lo up',
    ...options.setUp,
    `echo ready > ${ready}`,
    `exec ${tools} pause`,
  ]
  const first = daemon({
    lab,
    log: join(folder, 'log', 'namespaces.log'),
    place: here,
    argv: () => ['unshare', ...kinds, '--propagation', 'private', 'sh', '-euc', script.join('\n')],
  })
  first.start()
  await eventually(() => {
    if (!existsSync(ready) && first.ended() === undefined) throw new Error(`${name} has no namespaces yet`)
  }, startMs)
  const ended = first.ended()
  if (ended !== undefined) throw new Error(`the namespaces of ${name} could not be made: ${ended}`)
  const pid = childOf(first.pid())
  const into = ['nsenter', `--target=${pid}`, '--net', '--mount', '--uts', '--pid', '--']
  return { pid, place: { command: argv => [...into, ...argv], isWaiting: true } }
}

/** Lines of `ip`, run in the network namespace of a process. */
export async function configureLinks(lab: string, pid: number, lines: readonly string[]): Promise<void> {
  const argv = ['nsenter', `--target=${pid}`, '--net', '--', 'ip', '-batch', '-']
  await run(argv, { lab, input: `${lines.join('\n')}\n` })
}
