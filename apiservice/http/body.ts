import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { badRequest, type StatusError, tooLarge } from '../../src/kernel/errors.ts'
import { atEndOfTurn } from '../../src/kernel/turn.ts'

/** 3 MiB, as kube-apiserver takes. */
export const maxBodyBytes = 3 * 1024 * 1024

/** Reads a whole body. Rejects with 413 above `maxBodyBytes`, with 400 when the client stops halfway. */
export function readBody(raw: IncomingMessage | Http2ServerRequest): Promise<Buffer> {
  if (Number(raw.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.reject(tooLarge(maxBodyBytes))
  // Whoever went away before anybody read is not told of by any event.
  if (raw.destroyed && !raw.readableEnded) return Promise.reject(notWhole())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    let isRead = false
    const fail = (why: Error): void => {
      raw.off('data', onData).off('end', onEnd).off('close', onBroken).off('error', onBroken)
      reject(why)
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > maxBodyBytes) fail(tooLarge(maxBodyBytes))
      else chunks.push(chunk)
    }
    const onEnd = (): void => {
      isRead = true
      // With all whose bodies come in this turn.
      atEndOfTurn(() => resolve(chunks.length === 1 ? first(chunks) : Buffer.concat(chunks)))
    }
    // A request is closed after its end, too.
    const onBroken = (): void => {
      if (!isRead) fail(notWhole())
    }
    raw.on('data', onData).on('end', onEnd).on('close', onBroken).on('error', onBroken)
  })
}

function notWhole(): StatusError {
  return badRequest('the request body could not be read to its end')
}

function first(chunks: readonly Buffer[]): Buffer {
  return chunks[0] ?? Buffer.alloc(0)
}
