import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { errorText } from '../kernel/abort.ts'

export type PortClaim = {
  /** What wants the port, for the sentence: `the hub`. */
  readonly owner: string
  readonly host: string
  readonly port: number
  readonly protocols: readonly ('TCP' | 'UDP')[]
  /** What to do about it: `choose another with --port`. */
  readonly advice: string
}

const maxPort = 65_535

/**
 * Throws one sentence that names each port that cannot be had, before anything else happens. Port 0 is any free one.
 */
export async function requirePorts(claims: readonly PortClaim[]): Promise<void> {
  const found = await Promise.all(claims.map(async claim => ({ claim, problems: await problemsOf(claim) })))
  const sentences = found.flatMap(({ problems }) => problems)
  const advice = new Set(found.flatMap(({ claim, problems }) => (problems.length > 0 ? [claim.advice] : [])))
  if (sentences.length > 0) throw new Error([...sentences, ...advice].join('; '))
}

async function problemsOf({ host, owner, port, protocols }: PortClaim): Promise<readonly string[]> {
  if (port > maxPort) return [`port ${port} for ${owner} is above ${maxPort}`]
  const found = await Promise.all(
    protocols.map(async protocol => {
      const problem = await (protocol === 'TCP' ? tryTcp(host, port) : tryUdp(host, port))
      return problem === undefined ? undefined : `${protocol} port ${port} on ${host} for ${owner} ${problem}`
    }),
  )
  return found.filter(problem => problem !== undefined)
}

async function tryTcp(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
    server.close()
    await once(server, 'close')
    return undefined
  } catch (thrown) {
    return because(thrown)
  }
}

async function tryUdp(host: string, port: number): Promise<string | undefined> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  try {
    socket.bind({ address: host, port, exclusive: true })
    await once(socket, 'listening')
    return undefined
  } catch (thrown) {
    return because(thrown)
  } finally {
    socket.close()
  }
}

function because(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'EADDRINUSE') return 'is in use'
  if (code === 'EACCES') return 'may not be used by this user'
  if (code === 'EADDRNOTAVAIL') return 'cannot be had: this machine has no such address'
  return `cannot be had: ${errorText(thrown)}`
}
