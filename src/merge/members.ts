import { memberNamespace } from '../api/cluster-id.ts'
import { conditionOf, hasLapsed, type MemberCluster } from '../api/kinds/member-cluster.ts'
import { wellKnown } from '../api/well-known.ts'
import type { Change, Informer } from '../cluster/cluster.ts'
import { equalJson } from '../cluster/json.ts'
import type { Member } from '../contract.ts'
import { fromTime } from '../kernel/clock.ts'

/** The members as the merge needs them, and whose exports are touched when one changes. */
export class Members {
  readonly #informer: Informer<MemberCluster>
  #list: readonly Member[] | undefined

  constructor(informer: Informer<MemberCluster>) {
    this.#informer = informer
    this.onChange(() => {
      this.#list = undefined
    })
  }

  list(): readonly Member[] {
    this.#list ??= this.#informer.list().map(memberOf)
    return this.#list
  }

  /** Told of the namespace of each member of whose record more than its heartbeat has changed. */
  onChange(listener: (namespace: string) => void): void {
    this.#informer.onChange(({ before, after }: Change<MemberCluster>) => {
      const [old, now] = [before && memberOf(before), after && memberOf(after)]
      if (equalJson(old, now)) return
      for (const namespace of new Set([old?.namespace, now?.namespace])) {
        if (namespace !== undefined) listener(namespace)
      }
    })
  }
}

function memberOf({ metadata, spec, status }: MemberCluster): Member {
  const acceptedMs = fromTime(status?.firstAcceptedTime ?? '')
  const effects = (spec.taints ?? []).map(taint => taint.effect)
  return {
    cluster: metadata.name,
    namespace: status?.namespace ?? memberNamespace(metadata.name),
    accepted: spec.accepted && metadata.deletionTimestamp === undefined,
    // Until it is written down it was accepted just now: younger than all others.
    acceptedMs: Number.isNaN(acceptedMs) ? Number.MAX_SAFE_INTEGER : acceptedMs,
    namespaces: spec.namespaces,
    taint: effects.includes('NoImport') ? 'NoImport' : effects[0],
    silentSinceMs: silentSinceMs(status),
    region: metadata.labels?.[wellKnown.region],
  }
}

/** The condition turned when the member was not heard any more, also when the hub could not tell yet who is cut off. */
function silentSinceMs(status: MemberCluster['status']): number | undefined {
  if (!hasLapsed(status)) return undefined
  const ms = fromTime(conditionOf(status, 'Available')?.lastTransitionTime ?? '')
  return Number.isNaN(ms) ? 0 : ms
}
