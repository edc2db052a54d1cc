/** The parts of `metav1` that every kind shares, as JSON. */

export type OwnerReference = {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

export type ManagedFieldsEntry = {
  readonly manager?: string
  readonly operation?: 'Apply' | 'Update'
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: 'FieldsV1'
  readonly fieldsV1?: unknown
  readonly subresource?: string
}

export type ObjectMeta = {
  readonly name: string
  readonly generateName?: string
  /** Absent on cluster-scoped objects. */
  readonly namespace?: string
  readonly uid?: string
  /** The revision of the object's last write, in decimal. */
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ownerReferences?: readonly OwnerReference[]
  readonly finalizers?: readonly string[]
  readonly managedFields?: readonly ManagedFieldsEntry[]
}

/** Any object of any kind. */
export type KubeObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

/** `metav1.Condition`. */
export type Condition = {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
  readonly lastTransitionTime: string
  readonly observedGeneration?: number | bigint
}

/** `group/version`, or the version alone in the core group. */
export function groupVersion(group: string, version: string): string {
  return group === '' ? version : `${group}/${version}`
}

/** The parts of an apiVersion; the group is empty for the core group. */
export function parseApiVersion(apiVersion: string): { readonly group: string; readonly version: string } {
  const slash = apiVersion.indexOf('/')
  return slash < 0
    ? { group: '', version: apiVersion }
    : { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) }
}

/**
 * The list with `condition` set, as apimachinery's `SetStatusCondition`: the transition time moves only when `status`
 * changes. Answers the same list when nothing changes.
 */
export function withCondition(conditions: readonly Condition[], condition: Condition): readonly Condition[] {
  const old = conditions.find(c => c.type === condition.type)
  if (old === undefined) return [...conditions, condition]
  const next =
    old.status === condition.status ? { ...condition, lastTransitionTime: old.lastTransitionTime } : condition
  const same =
    old.status === next.status &&
    old.reason === next.reason &&
    old.message === next.message &&
    old.observedGeneration === next.observedGeneration
  return same ? conditions : conditions.map(c => (c === old ? next : c))
}

/** The object without its resourceVersion, as states are compared and stored. */
export function withoutVersion(object: KubeObject): KubeObject {
  if (object.metadata.resourceVersion === undefined) return object
  const { resourceVersion: _version, ...metadata } = object.metadata
  return { ...object, metadata }
}
