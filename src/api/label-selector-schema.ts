import { s } from './schema.ts'

/** `metav1.LabelSelector`. */
export function labelSelectorSchema(description: string) {
  return s.atomic(
    s.object(
      {
        matchExpressions: s.optional(
          s.atomicList(
            s.object(
              {
                key: s.string({ description: 'The label key.' }),
                operator: s.string({ description: 'In, NotIn, Exists or DoesNotExist.' }),
                values: s.optional(
                  s.atomicList(s.string(), {
                    description: 'The values of In and NotIn; empty for the other operators.',
                  }),
                ),
              },
              { description: 'What one label has to be.' },
            ),
            { description: 'Requirements that must all hold.' },
          ),
        ),
        matchLabels: s.optional(
          s.map(s.string(), { description: 'Labels that must have exactly these values.' }),
        ),
      },
      { description },
    ),
  )
}
