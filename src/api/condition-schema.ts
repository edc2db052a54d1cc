import { s } from './schema.ts'

/** `metav1.Condition` with the bounds that controller-gen writes for it. */
const condition = s.object(
  {
    lastTransitionTime: s.time({
      description: 'When the status of the condition last changed.',
    }),
    message: s.string({ maxLength: 32768, description: 'What happened, for people. May be empty.' }),
    observedGeneration: s.optional(
      s.int64({
        minimum: 0,
        description:
          'The metadata.generation that the condition was computed from; when it is older than the present one, the condition is out of date.',
      }),
    ),
    reason: s.string({
      minLength: 1,
      maxLength: 1024,
      pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$',
      description:
        'Why the condition last changed, for programs: CamelCase words; several are joined by commas.',
    }),
    status: s.oneOf(['True', 'False', 'Unknown'], { description: 'Whether the condition holds.' }),
    type: s.string({
      maxLength: 316,
      pattern:
        '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$',
      description: 'Name of the condition, in CamelCase.',
    }),
  },
  { description: 'One aspect of the present state of an object.' },
)

/** `status.conditions`: one entry for each type. */
export function conditionsSchema(description: string) {
  return s.optional(s.mapList(condition, ['type'], { description }))
}
