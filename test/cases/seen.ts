// What clusters see of a service: in short for tables, and in full to compare runs.
import type { EndpointSlice } from '../../src/api/kinds/endpoint-slice.ts'
import { toExportedPort } from '../../src/api/kinds/exported-service.ts'
import type { ServiceImport } from '../../src/api/kinds/service-import.ts'
import type { Condition, ObjectMeta } from '../../src/api/meta.ts'
import { wellKnown } from '../../src/api/well-known.ts'
import { exportedMapsOf } from '../../src/import/desired.ts'
import { familyOf } from '../../src/ip/address.ts'
import { never } from '../../src/kernel/abort.ts'
import { portText } from '../../src/merge/ports.ts'
import { askerOf, loadedZone } from '../support/dns-zone.ts'
import {
  type MemoryFleet,
  type MemoryMember,
  serviceExports,
  serviceImports,
  slices,
  textOf,
} from '../support/memory-fleet.ts'
import type { ImportSeen, Seen } from './case.ts'

const importedSlices = { namespace: 'shop', labelSelector: 'multicluster.kubernetes.io/source-cluster' }
const sourceLabel = 'multicluster.kubernetes.io/source-cluster'

/** What a member sees of a service, and the answers to these questions. */
export async function seenBy(
  member: MemoryMember,
  service: string,
  questions: readonly string[],
): Promise<Seen> {
  const found = await member.importOf(service)
  return {
    import: found && importSeen(found),
    slices: (await member.slicesOf(service)).map(sliceSeen).sort(),
    dns: await answersOf(member, questions),
  }
}

function importSeen(found: ServiceImport): ImportSeen {
  const { spec, status } = found
  const maps = exportedMapsOf(found)
  const timeout = spec?.sessionAffinityConfig?.clientIP?.timeoutSeconds
  return {
    type: spec?.type ?? '',
    ports: (spec?.ports ?? []).map(port => portText(toExportedPort(port))).join(' '),
    families: (spec?.ipFamilies ?? []).join(' '),
    addresses: (spec?.ips ?? []).map(familyOf).join(' '),
    clusters: (status?.clusters ?? []).map(({ cluster }) => cluster).join(' '),
    ready: Object.values(textOf(status?.conditions)).join(' '),
    ...present('affinity', [spec?.sessionAffinity, timeout].filter(part => part !== undefined).join(' ')),
    ...present('internal', spec?.internalTrafficPolicy ?? ''),
    ...present('distribution', spec?.trafficDistribution ?? ''),
    ...(Object.keys(maps.labels).length === 0 ? {} : { labels: maps.labels }),
    ...(Object.keys(maps.annotations).length === 0 ? {} : { annotations: maps.annotations }),
  }
}

function present(name: string, value: string): Readonly<Record<string, string>> {
  return value === '' ? {} : { [name]: value }
}

function sliceSeen({ endpoints, metadata, ports }: EndpointSlice): string {
  const source = metadata.labels?.[sourceLabel] ?? ''
  const served = (ports ?? []).map(({ name = '', port }) => `${name}:${port}`).join(',')
  return [source, served === '' ? '-' : served, ...endpoints.map(endpointSeen)].join(' ')
}

function endpointSeen({ addresses, conditions, hostname }: EndpointSlice['endpoints'][number]): string {
  const host = hostname === undefined ? '' : `${hostname}=`
  const state = conditions?.terminating === true ? '(terminating)' : ''
  return `${host}${addresses.join('+')}${conditions?.ready === false && state === '' ? '(not ready)' : state}`
}

/** `web A`, `_http._tcp.web SRV`: ClusterSetIPs as `VIP4` and `VIP6`, names below the zone in short. */
async function answersOf(
  { local }: MemoryMember,
  questions: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const imports = (await local.list(serviceImports, {}, never)).items
  const found = (await local.list(slices, importedSlices, never)).items
  const asker = askerOf(loadedZone({ imports, slices: found }), { random: () => 0 })
  const answers = questions.map(question => {
    const [name = '', type = 'A'] = question.split(' ')
    const { answer, status } = asker.ask(`${name}.shop.svc.clusterset.local`, type)
    const data = answer.map(line => line.split(' ').slice(3).join(' ')).map(short)
    return [question, data.length === 0 ? status : data.join(', ')] as const
  })
  return Object.fromEntries(answers)
}

function short(data: string): string {
  return data
    .replace('.shop.svc.clusterset.local.', '')
    .replace(/^10\.7\.\S+$/, 'VIP4')
    .replace(/^fd07:\S+$/, 'VIP6')
}

/** The conditions of a cluster's exports, by cluster; without those that export nothing. */
export async function exportsSeen(
  fleet: MemoryFleet,
  service: string,
): Promise<Readonly<Record<string, string>>> {
  const seen = await Promise.all(
    fleet.members.map(async member => {
      const { Valid, Ready, Conflict, ...more } = await member.conditionsOf(service)
      return [
        member.id,
        [Valid, Ready, Conflict, ...Object.values(more)].filter(text => text !== undefined).join(' '),
      ] as const
    }),
  )
  return Object.fromEntries(seen.filter(([, text]) => text !== ''))
}

/** Everything that users can see, without what tells when it came. */
export async function everything(fleet: MemoryFleet, questions: readonly string[]): Promise<unknown> {
  return Promise.all(
    fleet.members.map(async member => {
      const { local } = member
      const imports = (await local.list(serviceImports, {}, never)).items
      const found = (await local.list(slices, importedSlices, never)).items
      const exported = (await local.list(serviceExports, {}, never)).items
      return {
        member: member.id,
        imports: imports.map(({ metadata, spec, status }) => ({
          ...plain(metadata),
          spec,
          status: { ...status, conditions: timeless(status?.conditions) },
        })),
        slices: found.map(({ metadata, ...slice }) => ({ ...plain(metadata), ...slice })),
        exports: exported.map(({ metadata, status }) => ({
          ...plain(metadata),
          conditions: timeless(status?.conditions),
        })),
        dns: await answersOf(member, questions),
      }
    }),
  )
}

function plain({ annotations = {}, labels, name }: ObjectMeta): unknown[] | object {
  const { [wellKnown.changed]: _time, ...said } = annotations
  return { name, labels, annotations: said }
}

function timeless(conditions: readonly Condition[] | undefined): readonly object[] {
  return [...(conditions ?? [])]
    .map(({ lastTransitionTime: _time, observedGeneration: _generation, ...said }) => said)
    .sort((a, b) => (a.type < b.type ? -1 : 1))
}
