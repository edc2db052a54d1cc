/** What all sockets have in common. */
import { isIPv6 } from 'node:net'
import { StatusError } from '../../src/kernel/errors.ts'
import type { Transport } from '../contract.ts'

export type Endpoint = {
  /** An IP address. */
  readonly host: string
  /** 0 for one that is free. */
  readonly port: number
  /** Several workers on one port; the kernel spreads clients over them. */
  readonly shared: boolean
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user may not use the port',
  EADDRNOTAVAIL: 'this machine has no such address',
}

/** `dns: cannot listen on UDP 127.0.0.1:53: the port is in use` */
export function bindError(transport: Transport, endpoint: Endpoint, cause: unknown): StatusError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const why = reasons[code] ?? (cause instanceof Error ? cause.message : String(cause))
  const host = isIPv6(endpoint.host) ? `[${endpoint.host}]` : endpoint.host
  const message = `dns: cannot listen on ${transport.toUpperCase()} ${host}:${endpoint.port}: ${why}`
  return new StatusError(500, 'InternalError', message, { cause })
}
