/** `metav1.LabelSelector`: all of its requirements hold; without any it selects everything. */
export type LabelSelector = {
  readonly matchLabels?: Readonly<Record<string, string>>
  readonly matchExpressions?: readonly {
    readonly key: string
    readonly operator: string
    readonly values?: readonly string[]
  }[]
}

export function labelSelectorMatches(
  selector: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  const equal = Object.entries(selector.matchLabels ?? {}).every(([key, wanted]) => value(key) === wanted)
  return (
    equal &&
    (selector.matchExpressions ?? []).every(term =>
      expressionMatches(term.operator, term.values ?? [], value(term.key)),
    )
  )
}

function expressionMatches(operator: string, values: readonly string[], value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    default:
      return false
  }
}
