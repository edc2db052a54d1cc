// The generated part of docs/api.md, from the kinds.
import { subresourcesOf, verbsOf } from '../src/api/derive/discovery.ts'
import { tableColumns } from '../src/api/derive/table.ts'
import { type AnyKind, apiVersionOf, type Server } from '../src/api/kind.ts'
import { kinds } from '../src/api/kinds/index.ts'
import { code, markdownTable, withSection } from './markdown.ts'

export const apiPageFile = 'docs/api.md'

const titles: readonly (readonly [Server, string])[] = [
  ['member', 'Kinds of members'],
  ['hub', 'Kinds of the hub'],
  ['standalone', 'Built-in kinds, on every server'],
]

export function apiPage(): string {
  return withSection(apiPageFile, 'kinds', titles.map(section).join('\n'))
}

function section([server, title]: readonly [Server, string]): string {
  const served = kinds.filter(kind => kind.servers.includes(server)).toSorted(byVersionAndName)
  return `### ${title}\n\n${kindTable(served)}\n${columnTable(served)}`
}

function byVersionAndName(a: AnyKind, b: AnyKind): number {
  const text = (kind: AnyKind): string => `${kind.group} ${kind.plural}`
  return text(a) < text(b) ? -1 : 1
}

function kindTable(served: readonly AnyKind[]): string {
  return markdownTable(
    ['kind', 'apiVersion', 'plural', 'short names', 'scope', 'verbs'],
    served.map(kind => [
      kind.kind,
      kind.versions.map(({ name }) => code(apiVersionOf(kind, name))).join(', '),
      code(kind.plural),
      kind.shortNames.map(code).join(', '),
      kind.scope,
      [verbsText(verbsOf(kind)), ...subresourcesOf(kind).map(subresourceText)].join('; '),
    ]),
  )
}

const everyVerb = 'create, delete, deletecollection, get, list, patch, update, watch'

function verbsText(verbs: readonly string[]): string {
  return verbs.join(', ') === everyVerb ? 'all' : verbs.join(', ')
}

type Subresource = { readonly name: string; readonly verbs: readonly string[] }

function subresourceText({ name, verbs }: Subresource): string {
  return `${code(`/${name}`)}: ${verbs.join(', ')}`
}

function columnTable(served: readonly AnyKind[]): string {
  return `What \`kubectl get\` prints:\n\n${markdownTable(
    ['kind', 'columns', 'more with `-o wide`'],
    served
      .filter(kind => kind.storage !== 'review')
      .map(kind => [
        kind.kind,
        names(kind, priority => priority === 0),
        names(kind, priority => priority > 0),
      ]),
  )}`
}

function names(kind: AnyKind, wanted: (priority: number) => boolean): string {
  return tableColumns(kind)
    .filter(column => wanted(column.priority))
    .map(column => column.name)
    .join(', ')
}
