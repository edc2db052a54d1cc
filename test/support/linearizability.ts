/**
 * Whether a recorded history of clients could have come from one register for each key, on which each operation happened
 * at one instant between its call and its answer (Herlihy and Wing). Searched as Wing and Gong do, with Lowe's memory of
 * what was tried; keys are looked at one by one, since linearizability is local.
 */

/** Versions of a register are numbered by the store; each value is written once. */
export type Operation = {
  readonly client: number
  readonly key: string
  readonly calledAt: number
  /** Infinity when it was never answered: it may have happened at any time since, or not at all. */
  readonly answeredAt: number
  readonly call: Call
  /** Absent when it is unknown. */
  readonly answer?: Answer
}

export type Call =
  | { readonly verb: 'get' }
  | { readonly verb: 'create'; readonly value: string }
  /** Compare and set: exactly the version `expected` is replaced. */
  | { readonly verb: 'update'; readonly value: string; readonly expected: number }
  | { readonly verb: 'delete'; readonly expected: number }

/** Of a write: whether it was done, and the version that it made or found. Of a read: what it found; version 0 is none. */
export type Answer = { readonly done: boolean; readonly version: number; readonly value: string | undefined }

/** `version` is undefined until somebody has seen the version of a write that was not answered. */
type State = {
  readonly value: string | undefined
  readonly version: number | undefined
  /** Of any write before. */
  readonly newest: number
}

const nothing: State = { value: undefined, version: 0, newest: 0 }

/** Undefined when it is linearizable; else the key whose operations are not, with how far they could be explained. */
export function violation(history: readonly Operation[]): string | undefined {
  for (const [key, operations] of Map.groupBy(history, ({ key }) => key)) {
    const longest = longestExplained(operations)
    if (longest !== undefined)
      return `${key}: no order explains more than ${longest} of ${operations.length} operations`
  }
  return undefined
}

type Step = { readonly at: number; readonly before: State }

/** Undefined when all of them can be explained. */
function longestExplained(operations: readonly Operation[]): number | undefined {
  const ordered = operations.toSorted((a, b) => a.calledAt - b.calledAt)
  const mustHappen = ordered.filter(({ answer }) => answer !== undefined).length
  const tried = new Set<string>()
  const done = new Set<number>()
  const steps: Step[] = []
  let [state, from, answered, longest] = [nothing, 0, 0, 0]
  for (;;) {
    if (answered === mustHappen) return undefined
    const next = nextStep(ordered, { done, state, from, tried })
    if (next !== undefined) {
      steps.push({ at: next.at, before: state })
      done.add(next.at)
      state = next.after
      if (ordered[next.at]?.answer !== undefined) answered++
      longest = Math.max(longest, done.size)
      from = 0
      continue
    }
    const last = steps.pop()
    if (last === undefined) return longest
    done.delete(last.at)
    state = last.before
    if (ordered[last.at]?.answer !== undefined) answered--
    from = last.at + 1
  }
}

type Search = {
  readonly done: ReadonlySet<number>
  readonly state: State
  readonly from: number
  readonly tried: Set<string>
}

/** The first operation from `from` on that may come next: no other one was answered before it was called. */
function nextStep(
  ordered: readonly Operation[],
  { done, state, from, tried }: Search,
): { readonly at: number; readonly after: State } | undefined {
  let firstAnswer = Number.POSITIVE_INFINITY
  for (const [at, operation] of ordered.entries()) {
    if (done.has(at)) continue
    if (operation.calledAt > firstAnswer) return undefined
    firstAnswer = Math.min(firstAnswer, operation.answeredAt)
    if (at < from) continue
    const after = stateAfter(state, operation)
    if (after === undefined) continue
    const id = idOf(done, at, after)
    if (tried.has(id)) continue
    tried.add(id)
    return { at, after }
  }
  return undefined
}

function idOf(done: ReadonlySet<number>, at: number, { value, version }: State): string {
  return `${[...done, at].toSorted((a, b) => a - b).join()} ${value} ${version}`
}

/** Undefined when the operation cannot have happened there with this answer. */
function stateAfter(state: State, { call, answer }: Operation): State | undefined {
  if (answer === undefined) return unanswered(state, call)
  if (!answer.done || call.verb === 'get') return found(state, call, answer)
  if (!expects(state, call) || answer.version <= state.newest) return undefined
  const value = call.verb === 'delete' ? undefined : call.value
  return { value, version: value === undefined ? 0 : answer.version, newest: answer.version }
}

/** A write that happened without an answer. Where it would have been refused it need not be looked at. */
function unanswered(state: State, call: Call): State | undefined {
  if (call.verb === 'get' || !expects(state, call)) return undefined
  const value = call.verb === 'delete' ? undefined : call.value
  return { value, version: value === undefined ? 0 : undefined, newest: state.newest }
}

function expects({ value, version }: State, call: Exclude<Call, { verb: 'get' }>): boolean {
  if (call.verb === 'create') return value === undefined
  return value !== undefined && (version === undefined || version === call.expected)
}

/** A read, or a write that was refused since it found something else. */
function found(state: State, call: Call, answer: Answer): State | undefined {
  if (answer.value !== state.value) return undefined
  if (state.version === undefined) {
    return answer.version > state.newest
      ? { ...state, version: answer.version, newest: answer.version }
      : undefined
  }
  if (answer.version !== state.version) return undefined
  if (call.verb !== 'get' && expects(state, call)) return undefined
  return state
}
