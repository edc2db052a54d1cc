// The servers that are compared, each with the same user, who has rights by RBAC where there is RBAC.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Identity, issueClient, issueServing, makeAuthority } from '../../../src/identity/certificate.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { freePort } from '../../e2e/lab/ready.ts'
import { listenAt, startRole } from '../../support/role-process.ts'
import type { Address, Call } from './connection.ts'
import type { Server } from './job.ts'
import type { LoadProcess } from './load.ts'

export type TargetName = 'ours' | 'crds' | 'bare' | 'ours aggregated' | 'bare aggregated'

export type Target = {
  readonly name: TargetName
  readonly server: Server
  /** Whose memory is that of the server. */
  readonly pids: readonly number[]
  /** What else works when it is asked. */
  readonly besides: readonly number[]
}

export const group = 'multicluster.x-k8s.io'
export const bareGroup = 'bare.isthmus.test'
export const version = 'v1beta1'
export const user = { user: 'bench', groups: ['bench'] }
/** Where servers are started, and how what was started ends again. */
export type Starting = {
  readonly folder: string
  readonly load: LoadProcess
  readonly opened: (() => Promise<unknown>)[]
}

const lifetime = { clock: systemClock, lifetimeMs: 24 * 3_600_000 }

export function serverOf(address: Address, of: string): Server {
  return { ...address, prefix: `/apis/${of}/${version}`, apiVersion: `${of}/${version}` }
}

/** How the user of the load asks a server that trusts `authority` for itself and for clients. */
export async function clientOf(authority: Identity, at: number): Promise<Address> {
  const { certificate, key } = await issueClient(authority, user, lifetime)
  return { port: at, ca: authority.certificate, cert: certificate, key }
}

export async function startOurs({ folder, load, opened }: Starting): Promise<Target> {
  const port = await freePort()
  const home = join(folder, 'ours')
  const role = await startRole(['apiserver', ...listenAt(home, port)])
  opened.push(() => role.stop())
  const authority = {
    certificate: readFileSync(join(home, 'pki', 'ca.crt'), 'utf8'),
    key: readFileSync(join(home, 'pki', 'ca.key'), 'utf8'),
  }
  const server = serverOf(await clientOf(authority, port), group)
  const masters = await issueClient(authority, { user: 'admin', groups: ['system:masters'] }, lifetime)
  const admin = { ...server, cert: masters.certificate, key: masters.key }
  await load.expect(admin, [...grants(), ...namespaces()], 201)
  return { name: 'ours', server, pids: [role.pid], besides: [] }
}

export function post(path: string, body: object): Call {
  return { method: 'POST', path, body: JSON.stringify(body) }
}

/** Everything, but by a role: nobody is asked whether he is a master. */
export function grants(): readonly Call[] {
  const path = '/apis/rbac.authorization.k8s.io/v1'
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const metadata = { name: 'bench' }
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const subjects = [{ kind: 'User', name: user.user, apiGroup: 'rbac.authorization.k8s.io' }]
  const roleRef = { kind: 'ClusterRole', name: 'bench', apiGroup: 'rbac.authorization.k8s.io' }
  return [
    post(`${path}/clusterroles`, { apiVersion, kind: 'ClusterRole', metadata, rules }),
    post(`${path}/clusterrolebindings`, {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      subjects,
      roleRef,
    }),
  ]
}

export const namespaceNames = { small: 'bench-small', large: 'bench-large', fresh: 'bench-new' }

export function namespaces(): readonly Call[] {
  return Object.values(namespaceNames).map(name =>
    post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }),
  )
}

export async function startBare({ folder, opened }: Starting): Promise<Target> {
  const authority = await makeServing(folder)
  const script = join(import.meta.dirname, 'bare-server.ts')
  const files = ['bare.crt', 'bare.key'].map(name => join(folder, name))
  const child = spawn(process.execPath, [script, join(folder, 'bare'), ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  opened.push(() => end(child))
  if (child.stdout === null) throw new Error('the bare server has no output')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const address = await clientOf(authority, Number(String(line).split(' ')[1]))
  return { name: 'bare', server: serverOf(address, bareGroup), pids: [child.pid ?? 0], besides: [] }
}

async function makeServing(folder: string): Promise<Identity> {
  const authority = await makeAuthority('bare', lifetime)
  const { certificate, key } = await issueServing(authority, ['localhost', '127.0.0.1'], lifetime)
  writeFileSync(join(folder, 'bare.crt'), certificate)
  writeFileSync(join(folder, 'bare.key'), key, { mode: 0o600 })
  return authority
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill()
  await ended
}
