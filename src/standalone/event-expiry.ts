/**
 * Deletes objects of kinds that live for a limited time after their last write, such as Events. Of an object only that
 * time is kept.
 */
import { type AnyKind, apiVersionOf } from '../api/kind.ts'
import type { ManagedFieldsEntry, ObjectMeta } from '../api/meta.ts'
import type { Cluster, Ref, Resource } from '../cluster/cluster.ts'
import { type InformerSource, startInformer } from '../cluster/informer.ts'
import { background } from '../kernel/abort.ts'
import { type Clock, fromTime } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { every } from '../kernel/work-queue.ts'

export type ExpiryOptions = {
  readonly cluster: Cluster
  /** Those with `ttlSeconds` are looked after. */
  readonly kinds: readonly AnyKind[]
  readonly clock: Clock
  readonly log: Logger
}

type Aged = { readonly metadata: ObjectMeta; readonly writtenAtMs: number }

const intervalMs = 30_000

/** Runs until the signal aborts. Resolves when it knows all objects. */
export async function startExpiry(
  { cluster, kinds, clock, log }: ExpiryOptions,
  signal: AbortSignal,
): Promise<void> {
  const source = agedSource(cluster, clock)
  const started = kinds.map(async kind => {
    const { ttlSeconds } = kind
    if (ttlSeconds === undefined) return
    const of: Resource<Aged> = resourceOf(kind)
    const informer = startInformer(source, of, { clock, log }, signal)
    await informer.synced
    const sweep = async (inner: AbortSignal): Promise<void> => {
      const deadMs = clock.now() - ttlSeconds * 1000
      const dead = informer.list().filter(object => object.writtenAtMs <= deadMs)
      for (const { metadata } of dead) await expire(cluster, of, metadata, inner)
      if (dead.length > 0) log.info('expired objects deleted', { resource: kind.plural, count: dead.length })
    }
    const name = `expiry of ${kind.plural}`
    background(name, log, signal, inner => every({ name, intervalMs, clock, log }, sweep, inner))
  })
  await Promise.all(started)
}

function resourceOf(kind: AnyKind): Resource<Aged> {
  return {
    group: kind.group,
    version: kind.versions[0].name,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    plural: kind.plural,
    namespaced: kind.scope === 'Namespaced',
  }
}

/** A write in between makes it live on: only the version that was seen is deleted. */
async function expire(
  cluster: Cluster,
  of: Resource<Aged>,
  { namespace, name, uid, resourceVersion }: ObjectMeta,
  signal: AbortSignal,
): Promise<void> {
  const ref: Ref = namespace === undefined ? { name } : { namespace, name }
  const version = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  try {
    await cluster.delete(of, ref, { ...version, signal })
  } catch (thrown) {
    if (!isReason(thrown, 'NotFound', 'Conflict')) throw thrown
  }
}

/** Lists and watches as the cluster does; all that is left of an object is its name, its version and its last write. */
function agedSource(cluster: Cluster, clock: Clock): InformerSource {
  return {
    name: cluster.name,
    async list(of, selection, signal) {
      const { items, resourceVersion } = await cluster.list(of, selection, signal)
      return { items: items.map(item => aged(item, lastWriteOf(item, clock.now()))), resourceVersion }
    },
    async *watch(of, selection, signal) {
      for await (const event of cluster.watch(of, selection, signal)) {
        yield event.type === 'BOOKMARK'
          ? event
          : { type: event.type, object: aged(event.object, clock.now()) }
      }
    },
  }
}

function aged<O>(object: O, writtenAtMs: number): O {
  // Every object has metadata; callers ask for `Aged` and get all of it.
  const { namespace, name, uid, resourceVersion } = (object as { readonly metadata: ObjectMeta }).metadata
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
  return { metadata, writtenAtMs } as O
}

/** The times that objects carry of their writes; Events count repetitions in fields of their own. */
type Dated = {
  readonly metadata: ObjectMeta
  readonly lastTimestamp?: string | null
  readonly eventTime?: string | null
  readonly series?: { readonly lastObservedTime?: string | null } | null
}

/** Of an object that was written before we looked: the latest time it tells of, and none that is still to come. */
function lastWriteOf(object: unknown, nowMs: number): number {
  // Every object has metadata; the other fields are read as what they may be.
  const { metadata, lastTimestamp, eventTime, series } = object as Dated
  const writers: readonly ManagedFieldsEntry[] = metadata.managedFields ?? []
  const times = [
    metadata.creationTimestamp,
    ...writers.map(entry => entry.time),
    lastTimestamp,
    eventTime,
    series?.lastObservedTime,
  ]
  const known = times.map(time => fromTime(time ?? '')).filter(ms => ms <= nowMs)
  return known.length === 0 ? nowMs : Math.max(...known)
}
