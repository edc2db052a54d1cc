import type { Column } from './kind.ts'
import type { Condition } from './meta.ts'

type WithConditions = { readonly status?: { readonly conditions?: readonly Condition[] } }

/** A column with the status of a condition; nothing while there is no such condition. */
export function conditionColumn(type: string, description: string): Column<WithConditions> {
  return {
    name: type,
    type: 'string',
    description,
    jsonPath: `.status.conditions[?(@.type=='${type}')].status`,
    cell: object => conditionOf(object, type)?.status ?? null,
  }
}

/** With `-o wide`: why the condition is as it is. */
export function reasonColumn(type: string, name: string): Column<WithConditions> {
  return {
    name,
    type: 'string',
    description: `Why the condition ${type} is as it is.`,
    priority: 1,
    jsonPath: `.status.conditions[?(@.type=='${type}')].reason`,
    cell: object => conditionOf(object, type)?.reason ?? null,
  }
}

/** With `-o wide`: what these conditions say besides, each text once. */
export function messageColumn(...types: readonly string[]): Column<WithConditions> {
  return {
    name: 'Message',
    type: 'string',
    description: `What the conditions say: ${types.join(', ')}.`,
    priority: 1,
    cell: object => {
      const said = types.map(type => conditionOf(object, type)?.message ?? '').filter(text => text !== '')
      return [...new Set(said)].join('; ') || null
    },
  }
}

function conditionOf(object: WithConditions, type: string): Condition | undefined {
  return object.status?.conditions?.find(c => c.type === type)
}
