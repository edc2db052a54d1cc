/** How the deletion of a namespace shows in its status: the conditions and sentences of kube-controller-manager. */

import { type Namespace, namespaceConditions } from '../api/kinds/namespace.ts'
import type { ConditionReasons } from '../api/verdict.ts'
import { toTime } from '../kernel/clock.ts'
import type { NamespaceContent } from './namespace-content.ts'

type Conditions = NonNullable<NonNullable<Namespace['status']>['conditions']>
type Finding = {
  readonly type: string
  readonly isBad: boolean
  readonly reason: string
  readonly message: string
}

/** The conditions with what was found set in them; the same list when nothing changes. */
export function conditionsOf(old: Conditions, content: NamespaceContent, nowMs: number): Conditions {
  const next = findings(content).map(({ type, isBad, reason, message }) => {
    const before = old.find(condition => condition.type === type)
    const status = isBad ? 'True' : 'False'
    if (before?.status === status && before.reason === reason && before.message === message) return before
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : undefined
    return { type, status, lastTransitionTime: lastTransitionTime ?? toTime(nowMs), reason, message }
  })
  const others = old.filter(condition => !next.some(({ type }) => type === condition.type))
  const all = [...others, ...next]
  return all.length === old.length && next.every(condition => old.includes(condition)) ? old : all
}

function findings({ discovery, failures, left }: NamespaceContent): readonly Finding[] {
  return [
    finding('NamespaceDeletionDiscoveryFailure', {
      bad: discovery === undefined ? undefined : `Discovery failed: ${discovery}`,
      good: 'All resources successfully discovered',
    }),
    finding('NamespaceDeletionGroupVersionParsingFailure', {
      bad: undefined,
      good: 'All legacy kube types successfully parsed',
    }),
    finding('NamespaceDeletionContentFailure', {
      bad:
        failures.length === 0
          ? undefined
          : `Failed to delete all resource types, ${failures.length} remaining: ${failures.join(', ')}`,
      good: 'All content successfully deleted, may be waiting on finalization',
    }),
    finding('NamespaceContentRemaining', {
      bad: left.length === 0 ? undefined : `Some resources are remaining: ${resourcesText(left)}`,
      good: 'All content successfully removed',
    }),
    finding('NamespaceFinalizersRemaining', {
      bad: finalizersText(left),
      good: 'All content-preserving finalizers finished',
    }),
  ]
}

function finding(
  type: keyof typeof namespaceConditions,
  { bad, good }: { readonly bad: string | undefined; readonly good: string },
): Finding {
  const reasons: ConditionReasons[string] = namespaceConditions[type]
  const [reason = ''] = reasons[bad === undefined ? 'False' : 'True'] ?? []
  return { type, isBad: bad !== undefined, reason, message: bad ?? good }
}

function resourcesText(left: NamespaceContent['left']): string {
  return sorted(left.map(({ resource, count }) => `${resource} has ${count} resource instances`))
}

function finalizersText(left: NamespaceContent['left']): string | undefined {
  const counts = new Map<string, number>()
  for (const finalizer of left.flatMap(({ finalizers }) => finalizers)) {
    counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1)
  }
  if (counts.size === 0) return undefined
  const texts = Array.from(counts, ([finalizer, count]) => `${finalizer} in ${count} resource instances`)
  return `Some content in the namespace has finalizers remaining: ${sorted(texts)}`
}

function sorted(texts: readonly string[]): string {
  return texts.toSorted((one, other) => (one < other ? -1 : 1)).join(', ')
}
