/** What of the C library the UDP server calls, on Linux with 64 bits and the layouts that glibc and musl share. */
import { endianness } from 'node:os'

export type Pointer = bigint

export type Libc = {
  socket(domain: number, type: number, protocol: number): number
  setsockopt(fd: number, level: number, name: number, value: Pointer, octets: number): number
  bind(fd: number, address: Pointer, octets: number): number
  close(fd: number): number
  /** How many datagrams were taken; -1 when there are none. */
  recvmmsg(fd: number, messages: Pointer, count: number, flags: number, timeout: Pointer): number
  /** How many were taken over, in order; -1 when not even the first. */
  sendmmsg(fd: number, messages: Pointer, count: number, flags: number): number
  inet_pton(family: number, text: Pointer, address: Pointer): number
  inet_ntop(family: number, address: Pointer, text: Pointer, octets: number): Pointer
  /** Memory that stays where it is for as long as somebody holds it. */
  pointerTo(memory: ArrayBuffer): Pointer
}

type Ffi = typeof import('node:ffi')

const signatures = {
  socket: { return: 'int32', arguments: ['int32', 'int32', 'int32'] },
  setsockopt: { return: 'int32', arguments: ['int32', 'int32', 'int32', 'pointer', 'uint32'] },
  bind: { return: 'int32', arguments: ['int32', 'pointer', 'uint32'] },
  close: { return: 'int32', arguments: ['int32'] },
  recvmmsg: { return: 'int32', arguments: ['int32', 'pointer', 'uint32', 'int32', 'pointer'] },
  sendmmsg: { return: 'int32', arguments: ['int32', 'pointer', 'uint32', 'int32'] },
  inet_pton: { return: 'int32', arguments: ['int32', 'pointer', 'pointer'] },
  inet_ntop: { return: 'pointer', arguments: ['int32', 'pointer', 'pointer', 'uint32'] },
} as const

const architectures = ['x64', 'arm64', 'riscv64', 'loong64']

/** Undefined where this Node or this platform has none of it; Node may be built without `node:ffi`. */
export function loadLibc(): Libc | undefined {
  if (process.platform !== 'linux' || endianness() !== 'LE' || !architectures.includes(process.arch)) return
  try {
    const ffi = process.getBuiltinModule('node:ffi') as Ffi | undefined
    if (ffi === undefined) return
    // The library that the process itself runs on, whichever that is.
    const { functions } = ffi.dlopen(null, signatures)
    return { ...functions, pointerTo: memory => ffi.getRawPointer(memory) }
  } catch {
    return
  }
}
