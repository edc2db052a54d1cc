/**
 * The serial of a zone that changed at `nowMs`: its seconds since the epoch, in 32 bits, and never behind `before` even
 * if the clock is (RFC 1982 §3.2). 0 stands for no serial before.
 */
export function nextSerial(before: number, nowMs: number): number {
  const now = Math.floor(nowMs / 1000) >>> 0
  const ahead = (now - before) >>> 0
  return before === 0 || ahead < 0x8000_0000 ? now : before
}
