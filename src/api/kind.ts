import type { FieldError } from '../kernel/field-error.ts'
import type { Ages } from './duration.ts'
import type { ObjectMeta } from './meta.ts'
import { groupVersion, type KubeObject } from './meta.ts'
import type { ProtobufFields } from './protobuf-fields.ts'
import { type InferProperties, type JsonSchema, objectSchema, type Properties } from './schema.ts'
import type { ConditionReasons } from './verdict.ts'

/** Which server keeps this kind. `standalone` kinds are served only where no kube-apiserver is underneath. */
export type Server = 'hub' | 'member' | 'standalone'

/** How names of a kind are checked (k8s.io/apimachinery validation). */
export type NameRule = 'dns1123Subdomain' | 'dns1123Label' | 'dns1035Label' | 'pathSegment'

/**
 * - stored: an ordinary resource.
 * - review: create only, answered at once and never stored (SelfSubjectAccessReview and its like).
 * - view: get, list and watch only, computed from stored kinds.
 */
type Storage = 'stored' | 'review' | 'view'

export type ObjectOfProperties<P extends Properties> = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
} & InferProperties<P>

export type Column<O> = {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly description: string
  /** 0 (the default) is always shown, above 0 only with `-o wide`. */
  readonly priority?: number
  /** The same cell as a path that a CustomResourceDefinition can print; without one it has no such column. */
  readonly jsonPath?: string
  /** The cell is the object's name, in the place of the Name column that comes first otherwise. */
  readonly format?: 'name'
  /**
   * The printed value; null prints nothing. It is asked for once and kept, other than the age that it may be. Method syntax
   * keeps kinds of all shapes assignable to `Kind`.
   */
  cell(object: O, ages: Ages): string | number | bigint | boolean | null
}

/** Where an object says how many of something it stands for: names of fields, from the object down. */
type ScaleFields = {
  /** How many there shall be: an integer. */
  readonly wanted: readonly string[]
  /** How many there are: an integer. */
  readonly current: readonly string[]
  /** Which Pods these are: a label selector as text. */
  readonly selector?: readonly string[]
}

export type KindVersion = {
  readonly name: string
  /** The warning every request on this version gets. */
  readonly deprecated?: string
}

/** What one file in `src/api/kinds/` says about its kind; everything else is derived. */
export type KindDefinition<P extends Properties> = {
  readonly group: string
  /** Newest first; the first is preferred. All versions share one schema. */
  readonly versions: readonly [KindVersion, ...KindVersion[]]
  readonly storageVersion: string
  readonly kind: string
  readonly plural: string
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  readonly description: string
  readonly servers: readonly [Server, ...Server[]]
  readonly storage?: Storage
  readonly nameRule?: NameRule
  /** Everything but apiVersion, kind and metadata. */
  readonly properties: P
  /**
   * The status subresource exists: the main endpoint ignores `status`, and `/status` ignores all else. `withMetadata`:
   * `/status` also takes labels, annotations and finalizers, as built-in kinds do and custom resources do not.
   */
  readonly status?: { readonly withMetadata?: boolean }
  /** The scale subresource exists: `/scale` shows and changes how many there shall be, whatever the kind calls it. */
  readonly scale?: ScaleFields
  /**
   * Deletion also waits for something in the object itself (a namespace: `spec.finalizers`), and `/finalize` writes it.
   */
  readonly finalize?: {
    pending(object: ObjectOfProperties<P>): boolean
    /** The object as deletion of it begins. */
    begin(object: ObjectOfProperties<P>): ObjectOfProperties<P>
    /** `old` with what `/finalize` may change taken from `sent`. */
    apply(old: ObjectOfProperties<P>, sent: ObjectOfProperties<P>): ObjectOfProperties<P>
  }
  /** What `status.conditions` says. */
  readonly conditions?: ConditionReasons
  /** Strategic merge patch is accepted, and advertised, as for kinds that are built into kube-apiserver. */
  readonly strategicMergePatch?: boolean
  /** PUT without a resourceVersion replaces whatever is there, as built-in kinds allow. */
  readonly unconditionalUpdate?: boolean
  /** PUT creates what it does not find, as some built-in kinds allow. */
  readonly createOnUpdate?: boolean
  /** DELETE on the collection deletes what is selected in it. False for namespaces: one request would be too much. */
  readonly deletesCollection?: boolean
  /**
   * The garbage collector knows the kind: a deletion can wait for what an object owns, or orphan it. Where it does not,
   * every deletion is at once, for nobody would take the finalizer away.
   */
  readonly isCollected?: boolean
  /**
   * What becomes of finalizers without a domain: custom resources are warned of them, most built-in kinds refuse them.
   */
  readonly plainFinalizers?: 'warned' | 'accepted' | 'refused'
  /** A deletion is answered with the object as it was, as of some built-in kinds; of all others with a Status. */
  readonly answersDeleted?: boolean
  /** `metadata.generation` is kept. Custom resources always do; of the built-in kinds only some. */
  readonly generation?: boolean
  /**
   * The numbers of the fields where clients may send protocol buffers. Only for kinds that are built into Kubernetes:
   * all others are sent as JSON.
   */
  readonly protobuf?: ProtobufFields
  /** Printed after Name. */
  readonly columns?: readonly Column<ObjectOfProperties<P>>[]
  /** Field labels that selectors may use besides metadata.name and metadata.namespace. */
  readonly selectableFields?: Readonly<Record<string, (object: ObjectOfProperties<P>) => string>>
  /** Clusters may serve the kind from a CustomResourceDefinition instead; with these labels. */
  readonly crd?: { readonly labels: Readonly<Record<string, string>> }
  /** What the roles view and edit of a cluster give: with `view` both may read, with `edit` edit may also write. */
  readonly aggregate?: 'view' | 'edit'
  /** An object as users write it, for documents and tests. Derived from the schema when it is left out. */
  readonly sample?: InferProperties<P>
  /** The name of the sample, where the kind derives names from what it holds. */
  readonly sampleName?: string
  /** Seconds after which an object is deleted, counted from its last write. */
  readonly ttlSeconds?: number
  /** Defaults that the schema cannot say. Must not change its argument; runs on every decode, so idempotent. */
  default?(object: ObjectOfProperties<P>): ObjectOfProperties<P>
  /**
   * What the server sets by itself before it validates and stores: on create, when the status that was sent is gone, and
   * on writes of the main endpoint, with the object as it is stored. Must not change its arguments.
   */
  prepare?(object: ObjectOfProperties<P>, old?: ObjectOfProperties<P>): ObjectOfProperties<P>
  /** What the schema cannot say. `old` is absent on create. */
  validate?(object: ObjectOfProperties<P>, old?: ObjectOfProperties<P>): readonly FieldError[]
  /** Sentences that the client is warned with when the write succeeds. */
  warn?(object: ObjectOfProperties<P>, old?: ObjectOfProperties<P>): readonly string[]
}

/** A kind as shared code sees it: it reads these properties and never asks which kind it has. */
export type Kind<P extends Properties = Properties> = Required<
  Omit<
    KindDefinition<P>,
    | 'default'
    | 'prepare'
    | 'validate'
    | 'warn'
    | 'status'
    | 'scale'
    | 'finalize'
    | 'ttlSeconds'
    | 'protobuf'
    | 'crd'
    | 'aggregate'
    | 'sample'
  >
> & {
  readonly finalize: KindDefinition<P>['finalize'] | undefined
  readonly status: { readonly withMetadata: boolean } | undefined
  readonly scale: ScaleFields | undefined
  readonly ttlSeconds: number | undefined
  readonly protobuf: ProtobufFields | undefined
  readonly crd: KindDefinition<P>['crd'] | undefined
  readonly aggregate: KindDefinition<P>['aggregate'] | undefined
  readonly sample: InferProperties<P> | undefined
  /** The structural schema of everything but apiVersion, kind and metadata. */
  readonly schema: JsonSchema
  /** Whether `default` does anything. */
  readonly hasDefault: boolean
  default(object: ObjectOfProperties<P>): ObjectOfProperties<P>
  prepare(object: ObjectOfProperties<P>, old?: ObjectOfProperties<P>): ObjectOfProperties<P>
  validate(object: ObjectOfProperties<P>, old?: ObjectOfProperties<P>): readonly FieldError[]
  warn(object: ObjectOfProperties<P>, old?: ObjectOfProperties<P>): readonly string[]
}

/** The object type of a kind: `type ServiceExport = ObjectOf<typeof ServiceExportKind>`. */
export type ObjectOf<K> = K extends { readonly properties: infer P extends Properties }
  ? ObjectOfProperties<P>
  : never

/**
 * A kind of any shape. Callbacks are methods, so a `Kind<P>` is assignable to it; whoever calls them hands in objects
 * that the kind's own schema has accepted.
 */
export type AnyKind = Omit<
  Kind,
  'default' | 'prepare' | 'validate' | 'warn' | 'columns' | 'selectableFields' | 'properties' | 'finalize'
> & {
  readonly finalize:
    | {
        pending(object: KubeObject): boolean
        begin(object: KubeObject): KubeObject
        apply(old: KubeObject, sent: KubeObject): KubeObject
      }
    | undefined
  readonly columns: readonly Column<never>[]
  readonly selectableFields: Readonly<Record<string, (object: never) => string>>
  default(object: KubeObject): KubeObject
  prepare(object: KubeObject, old?: KubeObject): KubeObject
  validate(object: KubeObject, old?: KubeObject): readonly FieldError[]
  warn(object: KubeObject, old?: KubeObject): readonly string[]
}

/** The column that most kinds end with. It has to be declared, for only kinds without columns get it unasked. */
export const ageColumn: Column<{ readonly metadata: ObjectMeta }> = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  jsonPath: '.metadata.creationTimestamp',
  cell: (object, { ageOf }) => ageOf(object.metadata.creationTimestamp),
}

export function defineKind<const P extends Properties>(definition: KindDefinition<P>): Kind<P> {
  if (!definition.versions.some(v => v.name === definition.storageVersion)) {
    throw new Error(
      `${definition.kind}: storageVersion ${definition.storageVersion} is not one of its versions`,
    )
  }
  return {
    singular: definition.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    storage: 'stored',
    nameRule: 'dns1123Subdomain',
    strategicMergePatch: false,
    unconditionalUpdate: false,
    createOnUpdate: false,
    deletesCollection: true,
    generation: true,
    isCollected: true,
    plainFinalizers: 'warned',
    answersDeleted: false,
    columns: [],
    conditions: {},
    selectableFields: {},
    ttlSeconds: undefined,
    protobuf: undefined,
    crd: undefined,
    aggregate: undefined,
    sample: undefined,
    sampleName: 'sample',
    scale: undefined,
    finalize: undefined,
    default: object => object,
    prepare: object => object,
    validate: () => [],
    warn: () => [],
    ...definition,
    status: definition.status && { withMetadata: definition.status.withMetadata ?? false },
    schema: objectSchema(definition.properties),
    hasDefault: definition.default !== undefined,
  }
}

/** The apiVersion of a kind at a version (by default the preferred one). */
export function apiVersionOf(
  kind: { group: string; versions: readonly KindVersion[] },
  version?: string,
): string {
  return groupVersion(kind.group, version ?? kind.versions[0]?.name ?? '')
}

/** The resource as errors name it. */
export function resourceOf(kind: { group: string; plural: string }): { group: string; resource: string } {
  return { group: kind.group, resource: kind.plural }
}
