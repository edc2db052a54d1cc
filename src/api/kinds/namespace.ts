import { type FieldError, invalidValue } from '../../kernel/field-error.ts'
import { plainFinalizerErrors } from '../derive/metadata.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { labelKeyErrors } from '../names.ts'
import { message } from '../protobuf-fields.ts'
import { s } from '../schema.ts'

/** Deletion waits for it: it stands for everything that is in the namespace. */
const contentFinalizer = 'kubernetes'
const nameLabel = 'kubernetes.io/metadata.name'

const condition = s.object(
  {
    type: s.string({ description: 'What deletion waits for.' }),
    status: s.string({ description: 'True, False or Unknown.' }),
    lastTransitionTime: s.optional(s.time({ description: 'When the status last changed.' })),
    reason: s.optional(s.string({ description: 'Why, for programs.' })),
    message: s.optional(s.string({ description: 'Why, for people.' })),
  },
  { description: 'One aspect of the deletion of a namespace.' },
)

/** Those of kube-controller-manager, while a namespace is being deleted. */
export const namespaceConditions = {
  NamespaceDeletionDiscoveryFailure: { True: ['DiscoveryFailed'], False: ['ResourcesDiscovered'] },
  NamespaceDeletionGroupVersionParsingFailure: { False: ['ParsedGroupVersions'] },
  NamespaceDeletionContentFailure: { True: ['ContentDeletionFailed'], False: ['ContentDeleted'] },
  NamespaceContentRemaining: { True: ['SomeResourcesRemain'], False: ['ContentRemoved'] },
  NamespaceFinalizersRemaining: { True: ['SomeFinalizersRemain'], False: ['ContentHasNoFinalizers'] },
} as const

export const NamespaceKind = defineKind({
  group: '',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  scope: 'Cluster',
  description: 'A space for names. Objects in it go away with it.',
  servers: ['standalone'],
  nameRule: 'dns1123Label',
  strategicMergePatch: true,
  unconditionalUpdate: true,
  deletesCollection: false,
  plainFinalizers: 'refused',
  answersDeleted: true,
  generation: false,
  protobuf: {
    spec: message(2, { finalizers: 1 }),
    status: message(3, {
      phase: 1,
      conditions: message(2, { type: 1, status: 2, lastTransitionTime: 4, reason: 5, message: 6 }),
    }),
  },
  properties: {
    spec: s.optional(
      s.object(
        {
          finalizers: s.optional(
            s.atomicList(s.string(), {
              description: 'What must be done before the namespace may go away.',
            }),
          ),
        },
        { description: 'How the namespace behaves.' },
      ),
    ),
    status: s.optional(
      s.object(
        {
          conditions: s.optional(
            s.patchList(
              s.mapList(condition, ['type'], { description: 'How deletion is getting on.' }),
              'type',
            ),
          ),
          phase: s.optional(
            s.string({ description: 'Active, or Terminating from when deletion was asked for.' }),
          ),
        },
        { description: 'How the namespace is doing.' },
      ),
    ),
  },
  status: { withMetadata: true },
  conditions: namespaceConditions,
  finalize: {
    pending: namespace => (namespace.spec?.finalizers ?? []).length > 0,
    begin: namespace => ({ ...namespace, status: { ...namespace.status, phase: 'Terminating' } }),
    apply: (old, sent) => ({ ...old, spec: { ...old.spec, finalizers: sent.spec?.finalizers ?? [] } }),
  },
  sample: {},
  columns: [
    {
      name: 'Status',
      type: 'string',
      description: 'Active or Terminating.',
      cell: n => n.status?.phase ?? null,
    },
    ageColumn,
  ],
  selectableFields: { 'status.phase': n => n.status?.phase ?? '' },
  default: namespace => {
    const { metadata } = namespace
    if (!metadata.name || metadata.labels?.[nameLabel] === metadata.name) return namespace
    return {
      ...namespace,
      metadata: { ...metadata, labels: { ...metadata.labels, [nameLabel]: metadata.name } },
    }
  },
  prepare: (namespace, old) => {
    // Only /finalize takes finalizers away, and only /status changes the status.
    if (old !== undefined)
      return { ...namespace, spec: { ...namespace.spec, finalizers: old.spec?.finalizers ?? [] } }
    const sent = namespace.spec?.finalizers ?? []
    const finalizers = sent.includes(contentFinalizer) ? sent : [...sent, contentFinalizer]
    return { ...namespace, spec: { ...namespace.spec, finalizers }, status: { phase: 'Active' } }
  },
  validate: namespace =>
    (namespace.spec?.finalizers ?? []).flatMap((name, i) => finalizerErrors(`spec.finalizers[${i}]`, name)),
})

function finalizerErrors(field: string, name: string): readonly FieldError[] {
  const errors = labelKeyErrors(name).map(e => invalidValue(field, name, e))
  return [...errors, ...plainFinalizerErrors(field, name)]
}

export type Namespace = ObjectOf<typeof NamespaceKind>

/** Whether there is such a namespace and things may be made in it. */
export function acceptsObjects(namespace: Namespace | undefined): boolean {
  if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return false
  return namespace.status?.phase !== 'Terminating'
}
