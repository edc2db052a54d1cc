/** UDP sockets whose file descriptor is known, which those of `node:dgram` do not tell. */
import { isIPv6 } from 'node:net'
import type { Endpoint } from './endpoint.ts'
import type { Libc } from './libc.ts'

export const inetFamily = 2
export const inet6Family = 10

const datagramNonBlockingCloseOnExec = 2 | 0x800 | 0x80000
const solSocket = 1
const soReuseAddress = 2
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
  if ((!shared || setOption(libc, fd, soReusePort, 1)) && libc.bind(fd, address, octets) === 0) return fd
  libc.close(fd)
  return
}

/**
 * libuv lets everybody who wants to share the port of a socket that it is handed (SO_REUSEADDR), and who bound it later
 * would get the datagrams: takes that back.
 */
export function keepPort(libc: Libc, fd: number): void {
  setOption(libc, fd, soReuseAddress, 0)
}

function setOption(libc: Libc, fd: number, name: number, value: number): boolean {
  const at = 128
  Buffer.from(memory).writeInt32LE(value, at)
  return libc.setsockopt(fd, solSocket, name, libc.pointerTo(memory) + BigInt(at), 4) === 0
}
