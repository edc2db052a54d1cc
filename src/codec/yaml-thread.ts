/**
 * YAML is read at about 1 MB/s, so what is long is read in a thread of its own, one text after the other. What comes back
 * is JSON. A text that takes too long ends the thread, and the next one begins with a new one.
 */
import { Worker } from 'node:worker_threads'
import { systemClock } from '../kernel/clock.ts'
import { badRequest, StatusError, type StatusReason, tooManyRequests } from '../kernel/errors.ts'
import { type Parsed, parseJson } from './json.ts'

export type YamlAnswer =
  | { readonly json: string; readonly duplicates: readonly string[] }
  | { readonly refusal: { readonly code: number; readonly reason: StatusReason; readonly message: string } }

const entry = new URL('./yaml-worker.ts', import.meta.url)
/** What the reader takes is at most a second of computing, on a machine that may have more to do. */
const patienceMs = 20_000
const maxWaiting = 16
const resourceLimits = { maxOldGenerationSizeMb: 512 }

let thread: Worker | undefined
let waiting = 0
/** Resolves when the thread is free. */
let turn: Promise<unknown> = Promise.resolve()

/** Throws BadRequest, 413 for what is too large, and 429 when too many wait. */
export async function parseLongYaml(text: string): Promise<Parsed> {
  if (waiting >= maxWaiting) throw tooManyRequests('too many YAML documents wait to be read', 1)
  waiting += 1
  const answer = turn.then(() => ask(text))
  turn = answer.catch(() => undefined)
  try {
    return parsed(await answer)
  } finally {
    waiting -= 1
  }
}

function parsed(answer: YamlAnswer): Parsed {
  if ('refusal' in answer) {
    const { code, reason, message } = answer.refusal
    throw new StatusError(code, reason, message)
  }
  return { value: parseJson(answer.json).value, duplicates: answer.duplicates }
}

function ask(text: string): Promise<YamlAnswer> {
  const worker = thread ?? started()
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      cancel()
      worker.off('message', onAnswer).off('error', onError)
      worker.unref()
      settle()
    }
    const onAnswer = (answer: YamlAnswer): void => end(() => resolve(answer))
    // Nothing but a want of memory ends it by itself.
    const onError = (): void =>
      end(() => reject(badRequest('yaml: the document takes too much memory to read')))
    const cancel = systemClock.after(patienceMs, () => {
      thread = undefined
      void worker.terminate()
      end(() => reject(badRequest('yaml: the document takes too long to read')))
    })
    worker.on('message', onAnswer).on('error', onError)
    worker.ref()
    worker.postMessage(text)
  })
}

/** It does not keep the process alive. */
function started(): Worker {
  const worker = new Worker(entry, { name: 'yaml', resourceLimits, execArgv: [] })
  // Also after it was given up: an error of a thread that nobody listens to would end the process.
  worker.on('error', () => {
    if (thread === worker) thread = undefined
  })
  worker.unref()
  thread = worker
  return worker
}
