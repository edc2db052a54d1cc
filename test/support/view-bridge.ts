// What the hub's API server computes for each member, written as objects: the in-process clusters have no views.
import { ImportableView } from '../../apiservice/view/importable.ts'
import { memberNamespace } from '../../src/api/cluster-id.ts'
import { ClusterSetServiceKind } from '../../src/api/kinds/cluster-set-service.ts'
import { ExportedEndpointSliceKind } from '../../src/api/kinds/exported-endpoint-slice.ts'
import { type Importable, ImportableKind } from '../../src/api/kinds/importable.ts'
import { MemberClusterKind } from '../../src/api/kinds/member-cluster.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { type Change, type Informer, keyOf, resource } from '../../src/cluster/cluster.ts'
import { startInformer } from '../../src/cluster/informer.ts'
import { equalJson } from '../../src/cluster/json.ts'
import type { MemoryCluster } from '../../src/cluster/memory.ts'
import { decodeBody, encodeBody } from '../../src/codec/object-bytes.ts'
import { never } from '../../src/kernel/abort.ts'
import { isReason } from '../../src/kernel/errors.ts'
import { memoryLogger } from '../../src/kernel/log.ts'
import type { ManualClock } from './manual-clock.ts'

const clusterSetServices = resource(ClusterSetServiceKind)
const exportedSlices = resource(ExportedEndpointSliceKind)
const importables = resource(ImportableKind)
const memberClusters = resource(MemberClusterKind)

/**
 * Writes the view of each member, with the view itself, until the signal aborts. One that follows after another, in the
 * place of a hub that starts anew, may meet the last write of the earlier one: it looks again, and the earlier one writes
 * no more.
 */
export function startViewBridge(hub: MemoryCluster, clock: ManualClock, signal: AbortSignal): void {
  const bridge = new ViewBridge(hub, signal)
  const options = { clock, log: memoryLogger() }
  const members = startInformer(hub, memberClusters, options, signal)
  const shown: readonly Informer<KubeObject>[] = [
    startInformer(hub, clusterSetServices, options, signal),
    startInformer(hub, exportedSlices, options, signal),
  ]
  const namespaces = (): readonly string[] =>
    members.list().map(({ metadata }) => memberNamespace(metadata.name))
  const show = (change: Change<KubeObject>): void => bridge.show(change, namespaces())
  members.onChange(({ before, after }) => {
    if (before !== undefined && equalJson(before.spec, after?.spec)) return
    bridge.view.setMembers(
      members.list().map(({ metadata, spec }) => ({
        cluster: metadata.name,
        namespace: memberNamespace(metadata.name),
        accepted: spec.accepted,
        namespaces: spec.namespaces,
        revision: Number(metadata.resourceVersion),
      })),
      Number((after ?? before)?.metadata.resourceVersion),
    )
    for (const informer of shown)
      for (const object of informer.list()) show({ before: undefined, after: object })
  })
  for (const informer of shown) informer.onChange(show)
  const synced = Promise.all([members, ...shown].map(informer => informer.synced))
  const known = (): ReadonlySet<string> => new Set(shown.flatMap(informer => informer.list().map(nameInView)))
  synced.then(() => bridge.prune(known)).catch(() => undefined)
}

type Shown = { readonly object: KubeObject; readonly gone: boolean }

class ViewBridge {
  readonly view = new ImportableView()
  readonly #hub: MemoryCluster
  readonly #signal: AbortSignal
  /** One after the other: the order of changes is the order of the view. */
  #tail = Promise.resolve()

  constructor(hub: MemoryCluster, signal: AbortSignal) {
    this.#hub = hub
    this.#signal = signal
  }

  show({ before, after }: Change<KubeObject>, namespaces: readonly string[]): void {
    const object = after ?? before
    if (object === undefined) return
    for (const namespace of namespaces) {
      this.#then(() => this.#mirror(namespace, { object, gone: after === undefined }))
    }
  }

  /** Takes away what was shown before this bridge started and is gone since. */
  prune(known: () => ReadonlySet<string>): void {
    this.#then(async () => {
      const { items } = await this.#hub.list(importables, {}, never)
      const names = known()
      for (const { object, metadata } of items) {
        // What a view renders is an object of the hub.
        if (names.has(nameInView(object as KubeObject)) || this.#signal.aborted) continue
        await this.#hub.delete(importables, metadata, { signal: never })
      }
    })
  }

  #then(act: () => Promise<void>): void {
    this.#tail = this.#tail.then(() => this.#untilDone(act))
  }

  async #untilDone(act: () => Promise<void>): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        return await act()
      } catch (thrown) {
        if (!isReason(thrown, 'AlreadyExists', 'Conflict', 'NotFound')) throw thrown
      }
    }
  }

  async #mirror(namespace: string, { object, gone }: Shown): Promise<void> {
    const hub = this.#hub
    const plural = object.kind === 'ClusterSetService' ? 'clustersetservices' : 'exportedendpointslices'
    const stored = {
      revision: Number(object.metadata.resourceVersion),
      resource: `${plural}.hub.isthmus.dev`,
      namespace: object.metadata.namespace ?? '',
      name: object.metadata.name,
      body: encodeBody(object),
    }
    const { apiVersion, kind } = importables
    const rendered = this.view.render(namespace, stored)
    const { items } = await hub.list(importables, { namespace }, never)
    const there = items.find(({ metadata }) => metadata.name === rendered.name)
    if (this.#signal.aborted) return
    if (gone || !this.view.visible(namespace, stored)) {
      if (there !== undefined)
        await hub.delete(importables, { namespace, name: rendered.name }, { signal: never })
      return
    }
    // The view renders Importables.
    const wanted = decodeBody(apiVersion, kind, rendered) as unknown as Importable
    if (there === undefined) await hub.create(importables, wanted, never)
    else await hub.replace(importables, { ...wanted, metadata: there.metadata }, {}, never)
  }
}

function nameInView({ kind, metadata }: KubeObject): string {
  return `${kind} ${keyOf(metadata)}`
}
