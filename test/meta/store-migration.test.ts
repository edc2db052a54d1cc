// The commands of "From a home to an etcd, and back" of docs/operations.md, with a member that is there all the time.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { Etcd, withoutEtcd } from '../support/etcd.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { codeBlocks } from '../support/markdown.ts'
import { adminOf, listenAt, type RoleProcess, runRole, startRole } from '../support/role-process.ts'
import { Shell } from '../support/shell.ts'

const page = readFileSync('docs/operations.md', 'utf8')
const [there = '', hubThere = '', secondThere = '', back = ''] = codeBlocks(page, 'bash')
const [setup = ''] = codeBlocks(page, 'sh')
const patienceMs = 60_000
const missing =
  withoutEtcd ?? (spawnSync('which', ['bash']).status === 0 ? undefined : 'needs bash on the PATH')

const paths = [
  '/api/v1/namespaces',
  '/api/v1/namespaces/default/configmaps',
  '/apis/hub.isthmus.dev/v1alpha1/memberclusters',
  '/apis/hub.isthmus.dev/v1alpha1/clustersetservices',
  '/apis/hub.isthmus.dev/v1alpha1/exportedservices',
]

type Item = {
  readonly metadata: {
    readonly namespace?: string
    readonly name: string
    readonly uid: string
    readonly resourceVersion: string
    readonly creationTimestamp: string
  }
  readonly data?: unknown
  readonly spec?: unknown
}
type List = { readonly metadata: { readonly resourceVersion: string }; readonly items: readonly Item[] }

async function list(hub: ApiClient, path: string): Promise<List> {
  const { status, json } = await hub.send(path)
  expect([path, status]).toEqual([path, 200])
  return json as List // of a list
}

/** What has to be the same wherever the objects are. */
async function everything(hub: ApiClient): Promise<unknown> {
  const lists = await Promise.all(paths.map(path => list(hub, path)))
  return lists.map(({ items }) =>
    items.map(({ metadata: { namespace, name, uid, creationTimestamp }, data, spec }) => {
      return { namespace, name, uid, creationTimestamp, data, spec }
    }),
  )
}

describe.skipIf(missing !== undefined)(
  missing ?? 'a hub that moves from its home to an etcd, and back',
  () => {
    const folder = temporaryFolder()
    const home = join(folder.path, 'hub')
    const clients: ApiClient[] = []
    let port: number
    let etcd: Etcd
    let shell: Shell
    let member: RoleProcess
    let before: unknown
    let seen: number

    beforeAll(async () => {
      port = await freePorts()
      etcd = await Etcd.start()
      shell = new Shell({
        folder: folder.path,
        prelude: `${setup.replace('node hack/setup.mjs\n', '')}export ETCD=${etcd.servers[0]?.host}\n`,
        adapt: block =>
          block
            .replaceAll('$PWD/.isthmus/separate', folder.path)
            .replaceAll(/\b75(\d\d)\b/g, (_, offset: string) => String(port + Number(offset) - 43)),
      })
    }, 60_000)
    afterAll(async () => {
      await Promise.all(clients.map(client => client.close()))
      await member.stop()
      await shell.stopAll()
      await etcd.stop()
      folder.dispose()
    }, 60_000)

    function clientAt(offset: number): ApiClient {
      const client = apiClient(
        'HTTP/2',
        adminOf(offset === 0 ? home : join(folder.path, 'hub-2'), port + offset),
      )
      clients.push(client)
      return client
    }

    async function post(client: ApiClient, path: string, object: object): Promise<void> {
      const headers = { 'content-type': 'application/json' }
      const { status, text } = await client.send(path, {
        method: 'POST',
        headers,
        body: JSON.stringify(object),
      })
      expect([status, text]).toEqual([201, text])
    }

    /** What a client that comes back gets, whichever hub it asks. */
    async function expectOld(hub: ApiClient, revision: number): Promise<void> {
      for (const path of paths) {
        const watch = await hub.open(`${path}?watch=1&resourceVersion=${revision}`)
        const first = watch.status === 410 ? (await watch.rest()).toString() : ((await watch.line()) ?? '')
        watch.cancel()
        expect([path, first]).toEqual([path, expect.stringContaining('"code":410')])
        const exact = await hub.send(`${path}?resourceVersion=${revision}&resourceVersionMatch=Exact`)
        expect([path, exact.status]).toEqual([path, 410])
        expect(Number((await list(hub, path)).metadata.resourceVersion)).toBeGreaterThan(revision)
      }
    }

    /** The member has told the hub that it is there. */
    async function expectMember(hub: ApiClient): Promise<void> {
      const path = '/apis/coordination.k8s.io/v1/namespaces/member-east/leases/heartbeat'
      const versionNow = async (): Promise<string> =>
        ((await hub.send(path)).json as Item).metadata.resourceVersion
      const first = await versionNow()
      await eventually(async () => expect(await versionNow()).not.toBe(first), patienceMs)
    }

    it('begins on a disk', async () => {
      await shell.start('hub', hubThere.replace(' --store etcd://$ETCD', ''))
      const token = await runRole(['token', 'create', '--home', home, '--cluster', 'east'])
      const east = join(folder.path, 'east')
      const own = [...listenAt(east, port + 9), '--heartbeat-interval', '1s', '--join', token]
      member = await startRole(['member', '--cluster-id', 'east', ...own])
      const cluster = apiClient('HTTP/2', adminOf(east, port + 9))
      clients.push(cluster)
      const metadata = { name: 'web' }
      await post(cluster, '/api/v1/namespaces/default/services', {
        metadata,
        spec: { ports: [{ port: 80 }] },
      })
      await post(cluster, '/apis/multicluster.x-k8s.io/v1beta1/namespaces/default/serviceexports', {
        apiVersion: 'multicluster.x-k8s.io/v1beta1',
        kind: 'ServiceExport',
        metadata,
      })
      const hub = clientAt(0)
      await post(hub, '/api/v1/namespaces/default/configmaps', { metadata, data: { a: 'b' } })
      await eventually(async () => {
        const { items } = await list(hub, paths[3] ?? '')
        expect(items).toMatchObject([{ spec: { ips: [expect.any(String)] } }])
      }, patienceMs)
      await expectMember(hub)
      before = await everything(hub)
      seen = Number((await list(hub, paths[0] ?? '')).metadata.resourceVersion)
    }, 120_000)

    it('goes on in etcd, several times', async () => {
      await shell.stop('hub')
      expect(await shell.run(there)).toMatch(/^saved \d+ objects [\s\S]*made a store of \d+ objects in etcd:/)
      await shell.start('hub', hubThere)
      await shell.start('hub-2', secondThere)
      for (const hub of [clientAt(0), clientAt(1)]) {
        expect(await everything(hub)).toEqual(before)
        await expectOld(hub, seen)
        await expectMember(hub)
      }
      seen = Number((await list(clientAt(0), paths[0] ?? '')).metadata.resourceVersion)
    }, 180_000)

    it('comes back', async () => {
      await shell.stop('hub')
      await shell.stop('hub-2')
      expect(await shell.run(back)).toMatch(
        /^saved \d+ objects [\s\S]*made a store of \d+ objects in \S+\/hub\/store/,
      )
      await shell.start('hub', hubThere.replace(' --store etcd://$ETCD', ''))
      const hub = clientAt(0)
      expect(await everything(hub)).toEqual(before)
      await expectOld(hub, seen)
      await expectMember(hub)
    }, 180_000)
  },
)
