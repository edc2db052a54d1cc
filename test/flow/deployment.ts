// The two ways to run a fleet, as the flow tests see them.
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { type Fleet, freePorts, startFleet, temporaryFolder } from '../support/fleet.ts'
import { contextClient } from '../support/fleet-client.ts'
import { type Ended, type RoleProcess, runRole, runToEnd, startRole } from '../support/role-process.ts'

export const members = ['east', 'west'] as const
export type Member = (typeof members)[number]
export type Part = 'hub' | Member | 'east dns' | 'west dns'

export type Deployment = {
  /** With all rights, kept over restarts. */
  client(context: 'hub' | Member): ClusterClient
  dnsPort(member: Member): number
  /** SIGKILL. Undefined: the parts are one. */
  readonly kill: ((part: Part) => Promise<void>) | undefined
  readonly start: ((part: Part) => Promise<void>) | undefined
  /** SIGKILL of everything, and a new start with what is on disk. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** Hub, members and DNS in one process. */
export async function oneProcess(): Promise<Deployment> {
  const folder = temporaryFolder()
  const home = join(folder.path, 'home')
  let fleet: Fleet = await startFleet({ home })
  const clients = await clientsOf(() => join(home, 'kubeconfig'))
  return {
    ...clients.of,
    dnsPort: member => fleet.port + 10 + members.indexOf(member),
    kill: undefined,
    start: undefined,
    restart: async () => {
      await fleet.kill()
      fleet = await startFleet({ home, port: fleet.port })
    },
    stop: async () => {
      clients.close()
      await fleet.stop()
      folder.dispose()
    },
  }
}

export type SeparateProcesses = Deployment & {
  readonly kill: (part: Part) => Promise<void>
  readonly start: (part: Part) => Promise<void>
  /** Where `hub`, a member, or `<member>-dns` keeps its state. */
  homeOf(name: string): string
  /** With another token, over the state that it has (`lapsed`: with its old certificate) or, as another cluster, without any. */
  joinAgain(member: Member, as: 'itself' | 'another' | 'lapsed'): Promise<void>
  /** A step towards another authority of the hub, over which it is started anew. */
  authority(step: 'prepare' | 'switch' | 'retire'): Promise<string>
  /** The clock of a part is ahead of the machine's by so much from its next start on. */
  shiftClock(part: Part, aheadMs: number): void
  /** Runs a member with other arguments to its end, while it is down. */
  tryMember(member: Member, args: readonly string[]): Promise<Ended>
  /** Everything that the hub has, as of now; called, it puts that back while the hub is down. */
  backUpHub(): () => void
}

/** Hub, members and DNS as separate processes, joined by tokens. */
export async function separateProcesses(
  heartbeat = '10s',
  clocks: Partial<Record<Part, number>> = {},
): Promise<SeparateProcesses> {
  const folder = temporaryFolder()
  const base = await freePorts()
  const homeOf = (name: string): string => join(folder.path, name)
  const dnsPort = (member: Member): number => base + 10 + members.indexOf(member)
  const commands = new Map<Part, readonly string[]>([['hub', hubCommand(homeOf('hub'), base)]])
  const running = new Map<Part, RoleProcess>()
  const shifts = new Map(Object.entries(clocks))
  const launch = async (part: Part, more: readonly string[] = []): Promise<void> => {
    running.set(part, await startRole([...(commands.get(part) ?? []), ...more], clockOf(shifts.get(part))))
  }
  const start = (part: Part): Promise<void> => launch(part)
  const kill = async (part: Part): Promise<void> => {
    await running.get(part)?.kill()
  }
  await start('hub')
  for (const [index, member] of members.entries()) {
    const token = await runRole(['token', 'create', '--home', homeOf('hub'), '--cluster', member])
    const port = base + 1 + index
    const command = [...memberCommand(homeOf(member), member, port), '--heartbeat-interval', heartbeat]
    commands.set(member, [...command, '--join', token])
    await start(member)
    // The token was for once.
    commands.set(member, command)
    commands.set(
      `${member} dns`,
      dnsCommand(homeOf(member), homeOf(`${member}-dns`), dnsPort(member), base + 15 + index),
    )
    await start(`${member} dns`)
  }
  const clients = await clientsOf(context => join(homeOf(context), 'kubeconfig'))
  return {
    ...clients.of,
    dnsPort,
    kill,
    start,
    homeOf,
    joinAgain: async (member, as) => {
      await kill(member)
      // Without what the hub gave it, it asks for a new certificate.
      if (as !== 'lapsed') rmSync(join(homeOf(member), as === 'itself' ? 'hub' : ''), { recursive: true })
      const args = ['--home', homeOf('hub'), '--cluster', member, '--expires', '4000h']
      await launch(member, ['--join', await runRole(['token', 'create', ...args])])
    },
    authority: async step => {
      await kill('hub')
      const said = await runRole(['authority', step, '--home', homeOf('hub')])
      await start('hub')
      return said
    },
    shiftClock: (part, aheadMs) => {
      shifts.set(part, aheadMs)
    },
    tryMember: (member, args) => {
      const command = commands.get(member) ?? []
      return runToEnd([...command, ...args], undefined, clockOf(shifts.get(member)))
    },
    backUpHub: () => {
      const backup = join(folder.path, 'hub-backup')
      cpSync(homeOf('hub'), backup, { recursive: true })
      return () => {
        rmSync(homeOf('hub'), { recursive: true })
        cpSync(backup, homeOf('hub'), { recursive: true })
      }
    },
    restart: async () => {
      await Promise.all([...running.keys()].map(kill))
      await Promise.all([...running.keys()].map(start))
    },
    stop: async () => {
      clients.close()
      await Promise.all([...running.values()].map(process => process.stop()))
      folder.dispose()
    },
  }
}

/** What comes before a program whose clock is ahead by so much. */
function clockOf(aheadMs = 0): readonly string[] {
  if (aheadMs === 0) return []
  const preload = join(import.meta.dirname, '..', 'support', 'shifted-clock.mjs')
  return ['env', `NODE_OPTIONS=--import=${preload}`, `CLOCK_SHIFT_MS=${aheadMs}`]
}

const local = ['--host', '127.0.0.1', '--log-level', 'warn']

function hubCommand(home: string, port: number): readonly string[] {
  return ['hub', '--home', home, '--port', `${port}`, '--advertise', `127.0.0.1:${port}`, ...local]
}

function memberCommand(home: string, id: string, port: number): readonly string[] {
  return ['member', '--cluster-id', id, '--home', home, '--port', `${port}`, ...local]
}

function dnsCommand(memberHome: string, home: string, port: number, probePort: number): readonly string[] {
  const kubeconfig = join(memberHome, 'dns.kubeconfig')
  return [
    'dns',
    '--kubeconfig',
    kubeconfig,
    '--home',
    home,
    '--port',
    `${port}`,
    '--probe-port',
    `${probePort}`,
    ...local,
  ]
}

async function clientsOf(kubeconfigOf: (context: 'hub' | Member) => string): Promise<{
  readonly of: { client(context: 'hub' | Member): ClusterClient }
  close(): void
}> {
  const contexts = ['hub', ...members] as const
  const clients = new Map(
    await Promise.all(
      contexts.map(async context => [context, await contextClient(kubeconfigOf(context), context)] as const),
    ),
  )
  const client = (context: 'hub' | Member): ClusterClient => {
    const found = clients.get(context)
    if (found === undefined) throw new Error(`no context ${context}`)
    return found
  }
  return {
    of: { client },
    close: () => {
      for (const context of contexts) client(context).close()
    },
  }
}
