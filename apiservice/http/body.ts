import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { badRequest, tooLarge } from '../../src/kernel/errors.ts'

/** 3 MiB, as kube-apiserver takes. */
export const maxBodyBytes = 3 * 1024 * 1024

/** Reads a whole body. Rejects with 413 above `maxBodyBytes`, with 400 when the client stops halfway. */
export function readBody(raw: IncomingMessage | Http2ServerRequest): Promise<Buffer> {
  if (Number(raw.headers['content-length'] ?? 0) > maxBodyBytes) return Promise.reject(tooLarge(maxBodyBytes))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (run: () => void): void => {
      raw.off('data', onData).off('end', onEnd).off('close', onBroken).off('error', onBroken)
      run()
    }
    const onData = (chunk: Buffer): void => {
      size += chunk.length
      if (size > maxBodyBytes) settle(() => reject(tooLarge(maxBodyBytes)))
      else chunks.push(chunk)
    }
    const onEnd = (): void =>
      settle(() => resolve(chunks.length === 1 ? first(chunks) : Buffer.concat(chunks)))
    const onBroken = (): void =>
      settle(() => reject(badRequest('the request body could not be read to its end')))
    raw.on('data', onData).on('end', onEnd).on('close', onBroken).on('error', onBroken)
  })
}

function first(chunks: readonly Buffer[]): Buffer {
  return chunks[0] ?? Buffer.alloc(0)
}
