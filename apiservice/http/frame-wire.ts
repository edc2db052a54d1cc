import { Socket } from 'node:net'
import type { RawResponse } from './respond.ts'

const lineEnd = Buffer.from('\r\n')

/**
 * Watchers that are sent the same bytes share the chunk that carries them. They are served one after the other, so only
 * the last is kept: frames live longer than anybody asks for their chunk.
 */
let last: { readonly frames: Buffer; readonly chunk: Buffer } = {
  frames: Buffer.alloc(0),
  chunk: Buffer.alloc(0),
}

/**
 * Writes frames of a watch. On HTTP/1.1 each is a chunk that was made once for all watchers and goes to the connection
 * as it is: Node's own framing makes four writes of it, joins them again and copies the whole for each watcher. Answers
 * false when the connection is full; `onDrain` is then called when it takes more.
 */
export function writeFrames(response: RawResponse, frames: Buffer, onDrain: () => void): boolean {
  const { socket } = response
  // There is a socket when the answers to earlier requests of the connection are through.
  if (response.chunkedEncoding !== true || !(socket instanceof Socket && socket.writable)) {
    return response.write(frames) || whenDrained(response, onDrain)
  }
  return socket.write(chunkOf(frames)) || whenDrained(socket, onDrain)
}

function whenDrained(target: NodeJS.WritableStream, onDrain: () => void): false {
  target.once('drain', onDrain)
  return false
}

function chunkOf(frames: Buffer): Buffer {
  if (last.frames === frames) return last.chunk
  const head = Buffer.from(`${frames.length.toString(16)}\r\n`, 'latin1')
  const chunk = Buffer.concat([head, frames, lineEnd])
  last = { frames, chunk }
  return chunk
}
