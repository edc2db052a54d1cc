import { type FieldError, invalidValue } from '../../kernel/field-error.ts'
import { ageColumn, defineKind } from '../kind.ts'
import { message, microTime, pointer } from '../protobuf-fields.ts'
import { s } from '../schema.ts'

export const LeaseKind = defineKind({
  group: 'coordination.k8s.io',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
  description: 'Says who does something, of many who could.',
  servers: ['standalone'],
  strategicMergePatch: true,
  plainFinalizers: 'accepted',
  generation: false,
  protobuf: {
    spec: message(2, {
      holderIdentity: pointer(1),
      leaseDurationSeconds: pointer(2),
      acquireTime: microTime(3),
      renewTime: microTime(4),
      leaseTransitions: pointer(5),
      strategy: pointer(6),
      preferredHolder: pointer(7),
    }),
  },
  properties: {
    spec: s.optional(
      s.object(
        {
          acquireTime: s.optional(s.microTime({ description: 'When the holder got the lease.' })),
          holderIdentity: s.optional(s.string({ description: 'Who holds the lease; empty for nobody.' })),
          leaseDurationSeconds: s.optional(
            s.int({
              description: 'Seconds after renewTime when others may take the lease.',
            }),
          ),
          leaseTransitions: s.optional(
            s.int({ description: 'How often the lease went from one holder to another.' }),
          ),
          preferredHolder: s.optional(
            s.string({ description: 'Who should have the lease, when strategy is set.' }),
          ),
          renewTime: s.optional(s.microTime({ description: 'When the holder last renewed the lease.' })),
          strategy: s.optional(s.string({ description: 'How the holder is chosen when there are several.' })),
        },
        { description: 'Who holds the lease, and for how long.' },
      ),
    ),
  },
  columns: [
    {
      name: 'Holder',
      type: 'string',
      description: 'Who holds the lease.',
      cell: l => l.spec?.holderIdentity ?? null,
    },
    ageColumn,
  ],
  validate: lease => specErrors(lease.spec ?? {}),
})

function specErrors(spec: {
  readonly leaseDurationSeconds?: number
  readonly leaseTransitions?: number
}): readonly FieldError[] {
  const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = spec
  return [
    ...(seconds !== undefined && seconds <= 0
      ? [invalidValue('spec.leaseDurationSeconds', seconds, 'must be greater than 0')]
      : []),
    ...(transitions !== undefined && transitions < 0
      ? [invalidValue('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
      : []),
  ]
}
