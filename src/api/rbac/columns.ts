import { ageColumn, type Column } from '../kind.ts'
import type { ObjectMeta } from '../meta.ts'
import type { RoleRef, Subject } from './schema.ts'

/** Roles show the time itself, as kube-apiserver prints them. */
export const createdAtColumn: Column<{ readonly metadata: ObjectMeta }> = {
  name: 'Created At',
  type: 'date',
  description: 'When the object was created.',
  cell: object => object.metadata.creationTimestamp ?? null,
}

type Binding = {
  readonly metadata: ObjectMeta
  readonly roleRef: RoleRef
  readonly subjects?: readonly Subject[]
}

export const bindingColumns: readonly Column<Binding>[] = [
  {
    name: 'Role',
    type: 'string',
    description: 'The role that is given.',
    cell: b => `${b.roleRef.kind}/${b.roleRef.name}`,
  },
  ageColumn,
  subjectColumn('Users', 'Users who are given the role.', 'User', s => s.name),
  subjectColumn('Groups', 'Groups that are given the role.', 'Group', s => s.name),
  subjectColumn(
    'ServiceAccounts',
    'Service accounts that are given the role.',
    'ServiceAccount',
    s => `${s.namespace}/${s.name}`,
  ),
]

function subjectColumn(
  name: string,
  description: string,
  kind: string,
  text: (subject: Subject) => string,
): Column<Binding> {
  return {
    name,
    type: 'string',
    description,
    priority: 1,
    cell: b =>
      (b.subjects ?? [])
        .filter(s => s.kind === kind)
        .map(text)
        .join(', '),
  }
}
