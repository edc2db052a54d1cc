/** Other name servers as processes of this test, on ports of the loopback. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { systemClock } from '../../src/kernel/clock.ts'
import { question } from '../support/dns-message.ts'
import { udpClient } from '../support/dns-socket.ts'
import { eventually } from '../support/eventually.ts'

export type Peer = {
  readonly port: number
  readonly pid: number
  stop(): Promise<void>
}

export type PeerProgram = {
  readonly command: string
  readonly args: readonly string[]
  readonly port: number
  /** It is up when it answers for this name. */
  readonly name?: string
  readonly readyWithinMs?: number
}

const maxOutput = 64 * 1024

/** Whether the program is there; says so when it is not. */
export function hasPeer(command: string, debianPackage: string): boolean {
  const found = spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
  if (!found) process.stdout.write(`skipped: ${command} is not installed (Debian: ${debianPackage})\n`)
  return found
}

/** Resolves when it answers without SERVFAIL; rejects with its output when it does not in time. */
export async function startPeer(program: PeerProgram): Promise<Peer> {
  const { command, args, port, name = 'clusterset.local', readyWithinMs = 30_000 } = program
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = `${output}${chunk}`.slice(-maxOutput)
    })
  }
  const failed = once(child, 'error').then(([thrown]) => Promise.reject(thrown))
  const up = eventually(async () => {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${output}`)
    await requireAnswer(port, name)
  }, readyWithinMs)
  try {
    await Promise.race([up, failed])
  } catch (cause) {
    await ended(child)
    throw new Error(`${command} does not answer: ${output}`, { cause })
  }
  return { port, pid: child.pid ?? 0, stop: () => ended(child) }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const cancel = systemClock.after(5_000, () => child.kill('SIGKILL'))
  await exit
  cancel()
}

async function requireAnswer(port: number, name: string): Promise<void> {
  const client = await udpClient(port)
  const silence = Promise.withResolvers<undefined>()
  const cancel = systemClock.after(500, () => silence.resolve(undefined))
  try {
    client.send(question(name, 'SOA'))
    const reply = await Promise.race([client.next(), silence.promise])
    if (reply === undefined || (reply.readUInt8(3) & 0xf) === 2) throw new Error('no answer yet')
  } finally {
    cancel()
    await client.close()
  }
}
