import { once } from 'node:events'
import { get } from 'node:https'
import { createServer } from 'node:net'
import type { Identity } from '../../../src/identity/certificate.ts'
import { eventually } from '../../support/eventually.ts'
import type { Daemon } from './daemon.ts'

/** A TCP port that was free on loopback a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a TCP server has no port')
  return address.port
}

/** Waits until the API server says that it is ready; throws the end of a log when a part ended meanwhile. */
export async function untilReady(options: {
  readonly server: string
  readonly ca: string
  readonly user: Identity
  readonly parts: Iterable<Daemon>
  readonly deadlineMs: number
}): Promise<void> {
  const parts = [...options.parts]
  const dead = (): string | undefined => parts.map(part => part.ended()).find(text => text !== undefined)
  await eventually(async () => {
    if (dead() !== undefined) return
    const { certificate: cert, key } = options.user
    const answer = await read(`${options.server}/readyz`, { ca: options.ca, cert, key })
    if (answer !== 'ok') throw new Error(`${options.server} is not ready: ${answer}`)
  }, options.deadlineMs)
  const sentence = dead()
  if (sentence !== undefined) throw new Error(sentence)
}

function read(
  url: string,
  tls: { readonly ca: string; readonly cert: string; readonly key: string },
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { ...tls, timeout: 5_000, agent: false }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', chunk => {
        text += chunk
      })
      response.on('end', () => resolve(text))
      response.on('error', reject)
    })
    request.on('timeout', () => request.destroy(new Error(`${url} did not answer in 5 s`)))
    request.on('error', reject)
  })
}
