import type { Logger } from '../src/kernel/log.ts'
import type { Problem, ProblemReason, ServiceKey } from './contract.ts'
import type { Instruments } from './instruments.ts'

export type OnProblem = (key: ServiceKey, problem: Problem) => void

/** What cannot be published, said once each time it appears. */
export class Problems {
  readonly #log: Logger
  readonly #instruments: Instruments
  readonly #onNew: OnProblem
  readonly #known = new Map<ServiceKey, readonly Problem[]>()
  readonly #counts = new Map<ProblemReason, number>()

  constructor(log: Logger, instruments: Instruments, onNew: OnProblem) {
    this.#log = log
    this.#instruments = instruments
    this.#onNew = onNew
  }

  /** All problems of a service as it is now. */
  set(key: ServiceKey, problems: readonly Problem[]): void {
    const old = this.#known.get(key) ?? []
    if (old.length === 0 && problems.length === 0) return
    for (const { reason } of old) this.#count(reason, -1)
    for (const problem of problems) {
      this.#count(problem.reason, 1)
      if (!old.some(known => known.reason === problem.reason && known.subject === problem.subject)) {
        const { reason, subject } = problem
        this.#log.warn('part of a service has no record', {
          service: key,
          reason,
          subject: subject.slice(0, 253),
        })
        this.#onNew(key, problem)
      }
    }
    if (problems.length === 0) this.#known.delete(key)
    else this.#known.set(key, problems)
  }

  #count(reason: ProblemReason, by: number): void {
    const count = (this.#counts.get(reason) ?? 0) + by
    this.#counts.set(reason, count)
    this.#instruments.skipped(reason, count)
  }
}
