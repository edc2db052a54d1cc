import { isDeepStrictEqual } from 'node:util'
import { memberNamespace } from '../../src/api/cluster-id.ts'
import { apiVersionOf } from '../../src/api/kind.ts'
import { type MemberCluster, MemberClusterKind } from '../../src/api/kinds/member-cluster.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import type { Follow, StoredObject } from '../store-contract.ts'
import type { ImportableView, ViewMember } from './importable.ts'

/** Keeps the view's members those that are stored, until the signal aborts; resolves when it has them. */
export function followMembers(follow: Follow, view: ImportableView, signal: AbortSignal): Promise<void> {
  const members = new Map<string, ViewMember>()
  const put = (object: StoredObject): boolean => {
    const [before, after] = [members.get(object.name), memberOf(object)]
    if (before !== undefined && isDeepStrictEqual({ ...before, revision: after.revision }, after))
      return false
    members.set(object.name, after)
    return true
  }
  return follow(
    { resources: [`${MemberClusterKind.plural}.${MemberClusterKind.group}`], namespace: '' },
    {
      reset: items => {
        members.clear()
        for (const item of items) put(item)
        view.setMembers([...members.values()], Math.max(0, ...items.map(({ revision }) => revision)))
      },
      events: batch => {
        const changes = batch.map(({ type, object }) =>
          type === 'PUT' ? put(object) : members.delete(object.name),
        )
        // What the hub writes down of heartbeats changes nobody's view.
        const { revision = 0 } = batch.at(-1)?.object ?? {}
        if (changes.includes(true)) view.setMembers([...members.values()], revision)
      },
    },
    signal,
  )
}

function memberOf(object: StoredObject): ViewMember {
  // The registry stores only what the kind's schema has accepted.
  const { metadata, spec, status } = decodeBody(
    apiVersionOf(MemberClusterKind),
    MemberClusterKind.kind,
    object,
  ) as unknown as MemberCluster
  return {
    cluster: metadata.name,
    namespace: status?.namespace ?? memberNamespace(metadata.name),
    accepted: spec.accepted,
    namespaces: spec.namespaces,
    revision: object.revision,
  }
}
