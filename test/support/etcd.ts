/** A real etcd of one or more members on this machine: the program that the clusters of `test/e2e` run. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { etcdProgram } from '../e2e/lab/programs.ts'
import { eventually } from './eventually.ts'
import { freePorts, temporaryFolder } from './fleet.ts'

const program = etcdProgram()

/** Why tests that need etcd cannot run; they must where `CI` is set. */
export const withoutEtcd: string | undefined =
  'missing' in program && process.env.CI === undefined ? program.missing : undefined

export type EtcdOptions = {
  readonly members?: number
  /** More flags of each member. */
  readonly flags?: readonly string[]
  /** `https` with these flags. */
  readonly scheme?: 'http' | 'https'
}

class Member {
  readonly url: URL
  readonly #argv: readonly string[]
  #process: ChildProcess | undefined

  constructor(url: URL, argv: readonly string[]) {
    this.url = url
    this.#argv = argv
  }

  get isUp(): boolean {
    return this.#process !== undefined
  }

  start(): void {
    const [command = '', ...args] = this.#argv
    this.#process = spawn(command, args, { stdio: 'ignore' })
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const running = this.#process
    this.#process = undefined
    if (running === undefined || running.exitCode !== null) return
    const gone = once(running, 'exit')
    running.kill(signal)
    await gone
  }

  /** Stops it in its tracks, connections open, until `SIGCONT`. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(signal)
  }
}

export class Etcd {
  readonly members: readonly Member[]
  readonly folder: string
  readonly #folder = temporaryFolder()

  private constructor(base: number, path: string, { members = 1, flags = [], scheme = 'http' }: EtcdOptions) {
    this.folder = this.#folder.path
    const names = Array.from({ length: members }, (_, at) => `m${at}`)
    const peers = names.map((name, at) => `${name}=http://127.0.0.1:${base + 2 * at + 1}`)
    this.members = names.map((name, at) => {
      const client = `${scheme}://127.0.0.1:${base + 2 * at}`
      const peer = `http://127.0.0.1:${base + 2 * at + 1}`
      return new Member(new URL(client), [
        path,
        `--name=${name}`,
        `--data-dir=${join(this.#folder.path, name)}`,
        `--listen-client-urls=${client}`,
        `--advertise-client-urls=${client}`,
        `--listen-peer-urls=${peer}`,
        `--initial-advertise-peer-urls=${peer}`,
        `--initial-cluster=${peers.join(',')}`,
        '--log-level=fatal',
        // A process that is killed loses nothing that it has written.
        '--unsafe-no-fsync',
        ...flags,
      ])
    })
  }

  static async start(options: EtcdOptions = {}): Promise<Etcd> {
    if ('missing' in program) throw new Error(program.missing)
    const etcd = new Etcd(await freePorts(), program.path, options)
    for (const member of etcd.members) member.start()
    await etcd.listening()
    return etcd
  }

  get servers(): readonly URL[] {
    return this.members.map(({ url }) => url)
  }

  async listening(): Promise<void> {
    for (const { url } of this.members) await eventually(() => accepts(url))
  }

  async stop(): Promise<void> {
    for (const member of this.members) {
      member.signal('SIGCONT')
      await member.kill()
    }
    this.#folder.dispose()
  }
}

function accepts({ hostname, port }: URL): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })
}
