/** UDP sockets whose file descriptor is known, which those of `node:dgram` do not tell. */
import { isIPv6 } from 'node:net'
import type { Endpoint } from './endpoint.ts'
import type { Libc } from './libc.ts'

export const inetFamily = 2
export const inet6Family = 10

const datagramNonBlockingCloseOnExec = 2 | 0x800 | 0x80000
const solSocket = 1
const soReusePort = 15
const textOctets = 64
/** Lives as long as the module, so that it is there while the C library reads it. */
const memory = new ArrayBuffer(256)

/** A bound socket's descriptor, undefined when it cannot be had: whoever asks then binds in the ordinary way and hears why. */
export function openUdp(libc: Libc, { host, port, shared }: Endpoint): number | undefined {
  const bytes = Buffer.from(memory)
  const at = libc.pointerTo(memory)
  const family = isIPv6(host) ? inet6Family : inetFamily
  const octets = family === inet6Family ? 28 : 16
  bytes.writeUInt16LE(family, textOctets)
  bytes.writeUInt16BE(port, textOctets + 2)
  bytes.write(`${host}\0`, 0, textOctets, 'latin1')
  const address = at + BigInt(textOctets)
  const parsed = libc.inet_pton(family, at, address + (family === inet6Family ? 8n : 4n))
  if (host.length >= textOctets || parsed !== 1) return
  const fd = libc.socket(family, datagramNonBlockingCloseOnExec, 0)
  if (fd < 0) return
  bytes.writeInt32LE(1, 128)
  const one = at + 128n
  const isShared = !shared || libc.setsockopt(fd, solSocket, soReusePort, one, 4) === 0
  if (isShared && libc.bind(fd, address, octets) === 0) return fd
  libc.close(fd)
  return
}
