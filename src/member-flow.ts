/**
 * The ordered stages of the flow in a member: export, and back from the hub import → endpoints → derive. What only this cluster is
 * needed for (conditions that are known here, slices of its own endpoints) starts with the cluster alone; the rest when
 * the hub has told everything once. Nothing is taken back because something has not been read. Beside them it tells the
 * hub that it is there: heartbeat.
 */
import { startDeriving } from './derive-flow.ts'
import { ExportFlow } from './export-flow.ts'
import { ExportWarnings } from './export-warnings.ts'
import { leaveWhenAsked } from './heartbeat/leave.ts'
import { reportHeartbeats } from './heartbeat/report.ts'
import { ImportFlow } from './import-flow.ts'
import { background } from './kernel/abort.ts'
import { type MemberContext, type MemberFlowOptions, makeContext } from './member-context.ts'

export type MemberFlow = {
  /** Resolves when this cluster has been read: its conditions and its own endpoints are kept from now on. */
  readonly started: Promise<void>
  /** Resolves when the hub has told everything once as well. */
  readonly synced: Promise<void>
  readonly warnings: ExportWarnings
}

/** Runs until the signal aborts. */
export function startMemberFlow(options: MemberFlowOptions, signal: AbortSignal): MemberFlow {
  const context = makeContext(options, signal)
  const report = { ...context, intervalMs: context.heartbeatMs }
  background('heartbeat', context.log, signal, inner => reportHeartbeats(report, inner))
  const exports = new ExportFlow(context)
  const imports = new ImportFlow(context, exports)
  const started = localSynced(context).then(() => {
    imports.startLocal()
    exports.startLocal()
    if (context.routing !== undefined) startDeriving(context, context.routing)
    const { service } = context
    if (service !== undefined) leaveWhenAsked({ ...context, service, services: context.informers.services })
  })
  const { exportedServices, exportedSlices, importables, importedServices } = context.informers
  const exporting = Promise.all([started, exportedServices.synced, exportedSlices.synced])
  const importing = Promise.all([started, importables.synced])
  background('report imports', context.log, signal, async () => {
    await Promise.all([importing, importedServices.synced])
    imports.startReports()
  })
  const synced = Promise.all([
    exporting.then(() => exports.startHub()),
    importing.then(() => imports.startHub()),
  ]).then(() => undefined)
  // Whoever does not wait for them is not harmed by an early end.
  for (const promise of [started, synced]) promise.catch(() => undefined)
  return { started, synced, warnings: new ExportWarnings(context) }
}

function localSynced({ informers }: MemberContext): Promise<unknown> {
  const { endpointSlices, namespaces, serviceExports, serviceImports, services } = informers
  return Promise.all(
    [endpointSlices, namespaces, serviceExports, serviceImports, services].map(informer => informer.synced),
  )
}
