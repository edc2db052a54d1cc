/** What is read from an answer: a whole JSON document, or one JSON document per line. */
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../kernel/clock.ts'
import { badAnswer, unavailable } from '../kernel/errors.ts'
import { fromJson } from '../kernel/json.ts'

const newline = 0x0a

/** The whole body. Throws when it is larger than `maxBytes` or the connection breaks. */
export function readText(answer: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    // Without an encoding set, a stream of the http module tells buffers.
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > maxBytes) answer.destroy(badAnswer(`the answer is larger than ${maxBytes} bytes`))
    })
    answer.once('end', () => resolve(textOf(chunks)))
    answer.once('error', reject)
    answer.once('close', () => {
      if (!answer.readableEnded) reject(unavailable('the connection was closed within an answer'))
    })
  })
}

function textOf(chunks: readonly Buffer[]): string {
  const [first] = chunks
  return first !== undefined && chunks.length === 1
    ? first.toString('utf8')
    : Buffer.concat(chunks).toString('utf8')
}

/** The document, or the text itself when it is no JSON. */
export function parsedOr(text: string): unknown {
  try {
    return fromJson(text)
  } catch {
    // Not everything between us and a server answers in JSON; what came is shown in the error.
    return text
  }
}

export type LineLimits = {
  readonly maxBytes: number
  /** A stream on which nothing at all comes for so long, or a tenth longer, is taken for dead. */
  readonly idleMs: number
  readonly clock: Clock
}

/** The lines of a stream, without the empty ones. A last line without an end is dropped: it was cut off. */
export async function* lines(answer: IncomingMessage, limits: LineLimits): AsyncIterable<string> {
  const idle = idleTimer(answer, limits)
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of bytesOf(answer)) {
      idle.restart()
      let start = 0
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        parts.push(chunk.subarray(start, end))
        const line = textOf(parts)
        parts.length = 0
        size = 0
        start = end + 1
        if (line !== '') yield line
      }
      size += chunk.length - start
      if (size > limits.maxBytes) throw badAnswer(`a line is longer than ${limits.maxBytes} bytes`)
      if (start < chunk.length) parts.push(chunk.subarray(start))
    }
  } finally {
    idle.stop()
    answer.destroy()
  }
}

export async function* bytesOf(answer: IncomingMessage): AsyncIterable<Buffer> {
  // Without an encoding set, a stream of the http module yields buffers.
  for await (const chunk of answer) yield chunk as Buffer
}

const looksPerIdle = 10

/**
 * A timer for each piece that comes would cost more than the piece: one looks now and then whether any came. By timers
 * alone, since the time of day may be set meanwhile.
 */
function idleTimer(answer: IncomingMessage, { clock, idleMs }: LineLimits) {
  let quietLooks = 0
  const look = (): void => {
    // The first look after a piece may come at once after it.
    if (quietLooks >= looksPerIdle) {
      answer.destroy(unavailable(`nothing came for ${idleMs / 1000} s`))
      return
    }
    quietLooks += 1
    cancel = clock.after(idleMs / looksPerIdle, look)
  }
  let cancel = clock.after(idleMs / looksPerIdle, look)
  return {
    restart(): void {
      quietLooks = 0
    },
    stop(): void {
      cancel()
    },
  }
}
