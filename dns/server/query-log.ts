/** Answers as lines of a log, where that is wanted: gathered in the worker, written by the main thread, never without bound. */
import type { Decision, LoggedAnswer, LoggedAnswers, Observer, Origin, Query, Reply } from '../contract.ts'
import { rcodeName, typeName } from './labels.ts'

/** What is left out is counted. */
const maxGathered = 1000

/** Which answers are logged: none, those other than NOERROR, all. */
export type QueryLogLevel = 'off' | 'errors' | 'all'

export class QueryLog implements Observer {
  readonly #level: QueryLogLevel
  readonly #counts: Observer
  readonly #onFirst: () => void
  #answers: LoggedAnswer[] = []
  #left = 0

  /** `counts` is told everything too; `onFirst` hears of the first line after they were taken. */
  constructor(level: QueryLogLevel, counts: Observer, onFirst: () => void) {
    this.#level = level
    this.#counts = counts
    this.#onFirst = onFirst
  }

  begin(): void {
    this.#counts.begin()
  }

  end(): void {
    this.#counts.end()
  }

  answered(query: Query, decision: Decision, reply: Reply, origin: Origin): void {
    this.#counts.answered(query, decision, reply, origin)
    if (this.#level === 'off' || (this.#level === 'errors' && decision.rcode === 0)) return
    if (this.#answers.length === 0 && this.#left === 0) this.#onFirst()
    if (this.#answers.length === maxGathered) {
      this.#left++
      return
    }
    const asked = query.questionEnd > 0
    this.#answers.push({
      client: origin.address,
      port: origin.port,
      proto: origin.transport,
      name: asked ? nameText(query) : '',
      type: asked ? typeName(query.type) : '',
      rcode: rcodeName(decision.rcode),
      answers: reply.answers,
      octets: reply.length,
    })
  }

  dropped(transport: Origin['transport']): void {
    this.#counts.dropped(transport)
  }

  fault(thrown: unknown): void {
    this.#counts.fault(thrown)
  }

  /** What was gathered since the last time. */
  take(): LoggedAnswers {
    const taken = { answers: this.#answers, left: this.#left }
    this.#answers = []
    this.#left = 0
    return taken
  }
}

/** As zone files write names (RFC 1035 §5.1): what is no plain character stands as its number. */
function nameText(query: Query): string {
  let text = ''
  for (let label = 0; label < query.labels; label++) {
    const start = query.labelStarts[label] ?? 0
    const end = start + 1 + (query.name[start] ?? 0)
    for (let at = start + 1; at < end; at++) text += characterText(query.name[at] ?? 0)
    text += '.'
  }
  return text === '' ? '.' : text
}

function characterText(octet: number): string {
  const character = String.fromCharCode(octet)
  if (character === '.' || character === '\\') return `\\${character}`
  return octet > 0x20 && octet < 0x7f ? character : `\\${String(octet).padStart(3, '0')}`
}
