/** CustomResourceDefinitions, for clusters that prefer them to an API server of ours. */
import type { AnyKind, Column } from '../kind.ts'
import type { JsonSchema } from '../schema.ts'

export type CustomResourceDefinition = {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly group: string
    readonly names: {
      readonly kind: string
      readonly listKind: string
      readonly plural: string
      readonly singular: string
      readonly shortNames?: readonly string[]
      readonly categories?: readonly string[]
    }
    readonly scope: 'Namespaced' | 'Cluster'
    readonly versions: readonly CrdVersion[]
  }
}

type CrdVersion = {
  readonly name: string
  readonly served: true
  readonly storage: boolean
  readonly deprecated?: true
  readonly deprecationWarning?: string
  readonly additionalPrinterColumns?: readonly PrinterColumn[]
  readonly schema: { readonly openAPIV3Schema: JsonSchema }
  readonly subresources?: {
    readonly scale?: {
      readonly specReplicasPath: string
      readonly statusReplicasPath: string
      readonly labelSelectorPath?: string
    }
    readonly status?: Readonly<Record<string, never>>
  }
}

type PrinterColumn = {
  readonly name: string
  readonly type: string
  readonly description: string
  readonly jsonPath: string
  readonly priority?: number
}

/** The definition of each kind that says it may be served so. */
export function customResourceDefinitions(kinds: readonly AnyKind[]): readonly CustomResourceDefinition[] {
  return kinds.flatMap(kind => (kind.crd === undefined ? [] : [definitionOf(kind, kind.crd.labels)]))
}

function definitionOf(kind: AnyKind, labels: Readonly<Record<string, string>>): CustomResourceDefinition {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${kind.group}`, labels },
    spec: {
      group: kind.group,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
        ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
      },
      scope: kind.scope,
      versions: kind.versions.map(version => ({
        name: version.name,
        served: true,
        storage: version.name === kind.storageVersion,
        ...(version.deprecated === undefined
          ? {}
          : { deprecated: true, deprecationWarning: version.deprecated }),
        ...columnsOf(kind.columns),
        schema: { openAPIV3Schema: schemaOf(kind) },
        ...subresourcesOf(kind),
      })),
    },
  }
}

function subresourcesOf({ scale, status }: AnyKind): Pick<CrdVersion, 'subresources'> {
  if (status === undefined && scale === undefined) return {}
  const path = (names: readonly string[]): string => names.map(name => `.${name}`).join('')
  return {
    subresources: {
      ...(status === undefined ? {} : { status: {} }),
      ...(scale === undefined
        ? {}
        : {
            scale: {
              specReplicasPath: path(scale.wanted),
              statusReplicasPath: path(scale.current),
              ...(scale.selector === undefined ? {} : { labelSelectorPath: path(scale.selector) }),
            },
          }),
    },
  }
}

function columnsOf(columns: readonly Column<never>[]): Pick<CrdVersion, 'additionalPrinterColumns'> {
  const printed = columns.flatMap(({ name, type, description, jsonPath, priority = 0 }) =>
    jsonPath === undefined
      ? []
      : [{ name, type, description, jsonPath, ...(priority === 0 ? {} : { priority }) }],
  )
  return printed.length === 0 ? {} : { additionalPrinterColumns: printed }
}

function schemaOf(kind: AnyKind): JsonSchema {
  return {
    ...kind.schema,
    description: kind.description,
    properties: {
      apiVersion: { type: 'string', description: 'Group and version of the schema of this object.' },
      kind: { type: 'string', description: 'Name of the type of this object.' },
      metadata: { type: 'object' },
      ...kind.schema.properties,
    },
  }
}
