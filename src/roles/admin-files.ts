/** What a server leaves in its home for the person who runs it: a kubeconfig, the administrator's certificate, addresses. */
import { join } from 'node:path'
import type { Identity } from '../identity/certificate.ts'
import { readIfThere, writePrivate } from '../identity/file.ts'
import { writeIdentity } from '../identity/identity-file.ts'
import { background } from '../kernel/abort.ts'
import { every } from '../kernel/work-queue.ts'
import { dnsSubject } from './component-rights.ts'
import type { Context } from './context.ts'
import type { RunningHub } from './hub.ts'
import { type KubeconfigContext, writeKubeconfig } from './kubeconfig-file.ts'
import type { RunningMember } from './member.ts'
import type { RunningServer } from './server.ts'

const republishMs = 12 * 3_600_000
const admin = { user: 'admin', groups: ['system:masters'] }

export async function publishHub(home: string, { running }: RunningHub): Promise<void> {
  await publishAdmin(home, 'hub', running)
  await writePrivate(addressFile(home), `${JSON.stringify({ servers: running.addresses })}\n`)
}

export async function publishMember(home: string, { running, clusterId }: RunningMember): Promise<void> {
  await publishAdmin(home, clusterId, running)
  const user = await running.identity.client('dns', dnsSubject)
  await writeKubeconfig(join(home, 'dns.kubeconfig'), [contextOf(clusterId, running, user)])
}

/** Of a member behind a kube-apiserver: its DNS asks that one. */
export function publishAggregated(home: string, { running, clusterId }: RunningMember): Promise<void> {
  return publishAdmin(home, clusterId, running)
}

/** Publishes now, and again twice a day: the certificates in it are renewed in time. */
export async function keepPublished(
  publish: () => Promise<void>,
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  await publish()
  const task = { name: 'publish certificates', firstMs: republishMs, intervalMs: republishMs, clock, log }
  background(task.name, log, signal, () => every(task, publish, signal))
}

/** What the hub of this home advertises; undefined when none has run there. */
export async function readAddresses(home: string): Promise<readonly string[] | undefined> {
  const text = await readIfThere(addressFile(home))
  if (text === undefined) return undefined
  const document: unknown = JSON.parse(text)
  const servers =
    typeof document === 'object' && document !== null && 'servers' in document ? document.servers : []
  return Array.isArray(servers) ? servers.filter(server => typeof server === 'string') : undefined
}

function addressFile(home: string): string {
  return join(home, 'addresses.json')
}

async function publishAdmin(home: string, name: string, running: RunningServer): Promise<void> {
  const user = await running.identity.client('admin', admin)
  await writeKubeconfig(join(home, 'kubeconfig'), [contextOf(name, running, user)])
  // For tools that read no kubeconfig.
  await writeIdentity(join(home, 'admin'), user)
}

function contextOf(name: string, { localUrl, serving }: RunningServer, user: Identity): KubeconfigContext {
  const { serverName } = serving
  const named = serverName === undefined ? {} : { serverName }
  return { name, server: localUrl, ca: serving.trusted(), user, ...named }
}
