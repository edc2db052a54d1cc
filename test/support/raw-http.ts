import { once } from 'node:events'
import { connect } from 'node:tls'
import type { Identity } from '../../src/identity/certificate.ts'

export type ExchangeOptions = {
  readonly identity?: Identity | undefined
  /** The client ends its side once it has sent all, or when the first of an answer has come. */
  readonly ends?: 'sent' | 'answered'
}

/** Sends bytes as they are over TLS and answers all that comes until the server closes. */
export async function exchange(
  port: number,
  sent: string,
  { identity, ends }: ExchangeOptions = {},
): Promise<string> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: ['http/1.1'],
    ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
  })
  socket.on('error', () => undefined)
  let received = ''
  socket.setEncoding('latin1').on('data', text => {
    received += text
    if (ends === 'answered') socket.end()
  })
  await once(socket, 'secureConnect')
  const bytes = Buffer.from(sent, 'latin1')
  if (ends === 'sent') socket.end(bytes)
  else socket.write(bytes)
  if (!socket.destroyed) await once(socket, 'close')
  return received
}

/** The status codes of all answers on a connection. */
export function codesOf(received: string): readonly number[] {
  return [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, code]) => Number(code))
}
