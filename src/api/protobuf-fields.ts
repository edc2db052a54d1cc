/**
 * The numbers of a kind's fields in the protocol buffers of k8s.io/api. Clients made for the kinds that are built into
 * Kubernetes send those since client-go 0.32; their types follow from the kind's schema.
 */

/** A field that a client always sends, its zero value for an absent one. */
type FieldNumber = number

export type ProtobufField = {
  readonly number: number
  /** Absent for scalars. */
  readonly fields?: ProtobufFields
  /** A pointer in Go: sent only when it is set, so that a zero value is one. */
  readonly pointer?: boolean
  /** A `MicroTime`, which is written with six digits. */
  readonly micro?: boolean
}

export type ProtobufFields = Readonly<{ [name: string]: FieldNumber | ProtobufField }>

/** One message, or a list or a map of them. */
export function message(number: number, fields: ProtobufFields): ProtobufField {
  return { number, fields }
}

export function pointer(number: number, fields?: ProtobufFields): ProtobufField {
  return { number, pointer: true, ...(fields === undefined ? {} : { fields }) }
}

export function microTime(number: number): ProtobufField {
  return { number, micro: true }
}

/** `ObjectMeta`; its managedFields are the server's, and not read. */
export const objectMetaFields: ProtobufFields = {
  name: 1,
  generateName: 2,
  namespace: 3,
  uid: 5,
  resourceVersion: 6,
  generation: 7,
  creationTimestamp: 8,
  deletionTimestamp: 9,
  deletionGracePeriodSeconds: pointer(10),
  labels: 11,
  annotations: 12,
  ownerReferences: message(13, {
    kind: 1,
    name: 3,
    uid: 4,
    apiVersion: 5,
    controller: pointer(6),
    blockOwnerDeletion: pointer(7),
  }),
  finalizers: 14,
}

export const objectReferenceFields: ProtobufFields = {
  kind: 1,
  namespace: 2,
  name: 3,
  uid: 4,
  apiVersion: 5,
  resourceVersion: 6,
  fieldPath: 7,
}

export const conditionFields: ProtobufFields = {
  type: 1,
  status: 2,
  observedGeneration: 3,
  lastTransitionTime: 4,
  reason: 5,
  message: 6,
}

export const labelSelectorFields: ProtobufFields = {
  matchLabels: 1,
  matchExpressions: message(2, { key: 1, operator: 2, values: 3 }),
}
