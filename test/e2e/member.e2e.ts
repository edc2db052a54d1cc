// The member behind a stock kube-apiserver: kubectl, RBAC, the front proxy, the stock controllers, restarts.
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServiceExportKind } from '../../src/api/kinds/service-export.ts'
import { resource } from '../../src/cluster/cluster.ts'
import { startInformer } from '../../src/cluster/informer.ts'
import { issueClient, issueServing, makeAuthority } from '../../src/identity/certificate.ts'
import { never, sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { memoryLogger } from '../../src/kernel/log.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { contextClient } from '../support/fleet-client.ts'
import { serialShown } from '../support/shown-certificate.ts'
import {
  type AggregatedMember,
  groupVersions,
  startAggregatedMember,
  untilAvailable,
} from './aggregated-member.ts'
import { watchAgain } from './kubectl-watch.ts'
import { useLab } from './lab/use-lab.ts'

/** 30 s are what has to be survived; nothing but the time is another with less. */
const outageMs = process.env.CI === undefined ? 30_000 : 8_000
const lifetime = { clock: systemClock, lifetimeMs: 3_600_000 }
const revisionOnly = ['-o', 'jsonpath={.metadata.resourceVersion}']
const exportsIn = (namespace: string): string =>
  `/apis/multicluster.x-k8s.io/v1beta1/namespaces/${namespace}/serviceexports`

const anExport = (namespace: string, name: string, more: object = {}) => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { namespace, name, ...more },
})

describe('a member behind a kube-apiserver', () => {
  const lab = useLab({ name: 'member', count: 1, nodes: false })
  let member: AggregatedMember
  const clients: ApiClient[] = []
  const kubectl = (...args: readonly string[]): Promise<string> => lab.cluster(0).kubectl.run(args)
  const apply = (object: object, ...args: readonly string[]): Promise<string> =>
    lab.cluster(0).kubectl.run(['apply', '-f', '-', ...args], JSON.stringify(object))
  const createMany = (namespace: string): Promise<string> => {
    const items = Array.from({ length: 200 }, (_, index) => anExport(namespace, `web-${index}`))
    const list = { apiVersion: 'v1', kind: 'List', items }
    return lab.cluster(0).kubectl.run(['create', '-f', '-'], JSON.stringify(list))
  }
  /** Straight to the member. */
  const direct = (identity?: { certificate: string; key: string }): ApiClient => {
    const made = apiClient('HTTP/1.1', { url: member.url, ...(identity === undefined ? {} : { identity }) })
    clients.push(made)
    return made
  }

  beforeAll(async () => {
    member = await startAggregatedMember(lab.cluster(0))
    await kubectl('create', 'namespace', 'shop')
  }, 300_000)
  afterAll(async () => {
    await Promise.all(clients.map(client => client.close()))
    await member.stop()
  })

  it('is found by the authority that it wrote into its APIServices', async () => {
    const bundles = await kubectl(
      'get',
      'apiservices',
      ...groupVersions,
      '-o',
      'jsonpath={.items[*].spec.caBundle}',
    )
    expect(bundles.split(' ').map(bundle => Buffer.from(bundle, 'base64').toString())).toEqual(
      Array(2).fill(expect.stringContaining('BEGIN CERTIFICATE')),
    )
    await kubectl(
      'patch',
      'apiservice',
      groupVersions[0] ?? '',
      '--type=merge',
      '-p',
      '{"spec":{"caBundle":null}}',
    )
    await eventually(async () =>
      expect(
        await kubectl('get', 'apiservice', groupVersions[0] ?? '', '-o', 'jsonpath={.spec.caBundle}'),
      ).toBe(bundles.split(' ')[0]),
    )
    await untilAvailable(lab.cluster(0))
  })

  it('serves its kinds to kubectl as if they were built in', async () => {
    expect(await kubectl('api-resources', '--api-group=multicluster.x-k8s.io', '-o', 'name')).toBe(
      'serviceexports.multicluster.x-k8s.io\nserviceimports.multicluster.x-k8s.io\n',
    )
    // kube-apiserver fetches our OpenAPI documents in its own time.
    const explained = await eventually(() => kubectl('explain', 'serviceexport.spec'), 60_000)
    expect(explained).toContain('exportedLabels')
    await apply(anExport('shop', 'web'))
    await apply(anExport('shop', 'web', { labels: { tier: 'front' } }), '--server-side', '--force-conflicts')
    expect(await kubectl('get', 'svcex', '-n', 'shop', '-l', 'tier=front', '-o', 'name')).toBe(
      'serviceexport.multicluster.x-k8s.io/web\n',
    )
    expect(
      await kubectl('get', 'serviceexports.v1alpha1.multicluster.x-k8s.io', 'web', '-n', 'shop'),
    ).toContain('web')
    const watched = kubectl('get', 'serviceexports', '-n', 'shop', '-w', '-o', 'name', '--request-timeout=5s')
    await kubectl('label', 'serviceexport', 'web', '-n', 'shop', 'seen=yes')
    expect(
      (await watched.catch((thrown: Error) => thrown.message)).match(/serviceexport.*web/g)?.length,
    ).toBeGreaterThan(0)
    await kubectl('delete', 'serviceexport', 'web', '-n', 'shop', '--timeout=10s')
  })

  it('does what RBAC of the cluster says', async () => {
    const asAda = (...args: readonly string[]): Promise<string> => kubectl('--as=ada', '-n', 'shop', ...args)
    await expect(asAda('get', 'serviceexports')).rejects.toThrow(
      'serviceexports.multicluster.x-k8s.io is forbidden: User "ada" cannot list resource "serviceexports" in API group "multicluster.x-k8s.io" in the namespace "shop"',
    )
    await kubectl('create', 'rolebinding', 'ada', '-n', 'shop', '--clusterrole=edit', '--user=ada')
    // What was refused is remembered for ten seconds.
    await eventually(() => asAda('get', 'serviceexports'), 15_000)
    await lab
      .cluster(0)
      .kubectl.run(['--as=ada', 'create', '-f', '-'], JSON.stringify(anExport('shop', 'hers')))
    await expect(
      lab
        .cluster(0)
        .kubectl.run(['--as=ada', 'create', '-f', '-'], JSON.stringify(anExport('default', 'no'))),
    ).rejects.toThrow('User "ada" cannot create resource "serviceexports"')
    await asAda('delete', 'serviceexport', 'hers')
  })

  it('knows the tokens of ServiceAccounts, itself and through kube-apiserver', async () => {
    await kubectl('create', 'serviceaccount', 'reader', '-n', 'shop')
    await kubectl(
      'create',
      'rolebinding',
      'reader',
      '-n',
      'shop',
      '--clusterrole=view',
      '--serviceaccount=shop:reader',
    )
    const token = (await kubectl('create', 'token', 'reader', '-n', 'shop')).trim()
    const headers = { authorization: `Bearer ${token}` }
    expect((await direct().send(exportsIn('shop'), { headers })).json).toMatchObject({
      kind: 'ServiceExportList',
    })
    const refused = await direct().send(exportsIn('default'), { headers })
    expect(refused.json).toMatchObject({
      code: 403,
      message: expect.stringContaining('User "system:serviceaccount:shop:reader" cannot list'),
    })
    const { server } = lab.cluster(0)
    const through = apiClient('HTTP/1.1', { url: server })
    clients.push(through)
    expect((await through.send(exportsIn('shop'), { headers })).json).toMatchObject({
      kind: 'ServiceExportList',
    })
    const forged = { authorization: `Bearer ${token.slice(0, -4)}AAAA` }
    expect((await direct().send(exportsIn('shop'), { headers: forged })).status).toBe(401)
  })

  it('knows users by certificates of the cluster, and believes no headers but those of the front proxy', async () => {
    const { identities } = lab.cluster(0)
    expect((await direct(identities.of('admin')).send(exportsIn('shop'))).status).toBe(200)
    const injected = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' }
    expect((await direct().send(exportsIn('shop'), { headers: injected })).json).toMatchObject({
      code: 403,
      message: expect.stringContaining('User "system:anonymous"'),
    })
    const named = await issueClient(identities.of('ca'), { user: 'front-proxy-client', groups: [] }, lifetime)
    expect((await direct(named).send(exportsIn('shop'), { headers: injected })).json).toMatchObject({
      code: 403,
      message: expect.stringContaining('User "front-proxy-client"'),
    })
    const other = await issueClient(identities.of('front-proxy-ca'), { user: 'other', groups: [] }, lifetime)
    expect((await direct(other).send(exportsIn('shop'), { headers: injected })).status).toBe(401)
    const proxy = identities.of('front-proxy')
    expect((await direct(proxy).send(exportsIn('shop'), { headers: injected })).status).toBe(200)
  })

  it('goes on when the authority of the front proxy is replaced', async () => {
    const { identities } = lab.cluster(0)
    const [old, next] = [identities.of('front-proxy-ca'), await makeAuthority('next front-proxy', lifetime)]
    const client = await issueClient(next, { user: 'front-proxy-client', groups: [] }, lifetime)
    const path = "jsonpath={.data['requestheader-client-ca-file']}"
    const map = ['get', 'configmap', 'extension-apiserver-authentication', '-n', 'kube-system', '-o', path]
    const published = async (): Promise<string> => (await kubectl(...map)).trim()
    const asAda = { headers: { 'x-remote-user': 'ada' } }
    writeFileSync(identities.file('front-proxy-ca.crt'), old.certificate + next.certificate)
    await eventually(async () => expect(await published()).toContain(next.certificate.trim()), 90_000)
    await eventually(async () =>
      expect((await direct(client).send(exportsIn('shop'), asAda)).status).not.toBe(401),
    )
    writeFileSync(identities.file('front-proxy.key'), client.key)
    writeFileSync(identities.file('front-proxy.crt'), client.certificate)
    writeFileSync(identities.file('front-proxy-ca.crt'), next.certificate)
    // kube-apiserver only adds to what is published: it forgets an authority when the ConfigMap is made anew.
    await eventually(async () => {
      await kubectl('delete', 'configmap', 'extension-apiserver-authentication', '-n', 'kube-system')
      await eventually(async () => expect(await published()).toBe(next.certificate.trim()), 5_000)
    }, 90_000)
    const before = identities.of('front-proxy')
    await eventually(async () =>
      expect((await direct(before).send(exportsIn('shop'), asAda)).status).toBe(401),
    )
    await eventually(() => kubectl('get', 'serviceexports', '-A'), 90_000)
    await untilAvailable(lab.cluster(0))
  }, 300_000)

  it('is emptied by the namespace controller: 200 objects in under 20 s', async () => {
    await kubectl('create', 'namespace', 'crowd')
    await createMany('crowd')
    const started = performance.now()
    await kubectl('delete', 'namespace', 'crowd', '--timeout=60s')
    const seconds = (performance.now() - started) / 1000
    process.stdout.write(`a namespace with 200 exports was gone after ${seconds.toFixed(1)} s\n`)
    expect(seconds).toBeLessThan(20)
    await expect(
      lab.cluster(0).kubectl.run(['create', '-f', '-'], JSON.stringify(anExport('crowd', 'late'))),
    ).rejects.toThrow('namespaces "crowd" not found')
  })

  it('is away while a namespace with 200 objects is deleted, and it goes when it is back', async () => {
    await kubectl('create', 'namespace', 'outage')
    await createMany('outage')
    await member.stop('SIGKILL')
    await kubectl('delete', 'namespace', 'outage', '--wait=false')
    await sleep(systemClock, outageMs, never)
    expect(await kubectl('get', 'namespace', 'outage', '-o', 'jsonpath={.status.phase}')).toBe('Terminating')
    await member.start()
    const started = performance.now()
    await kubectl('wait', '--for=delete', 'namespace/outage', '--timeout=90s')
    process.stdout.write(
      `gone ${((performance.now() - started) / 1000).toFixed(1)} s after the member was back\n`,
    )
    await untilAvailable(lab.cluster(0))
    expect(
      await kubectl('get', 'serviceexports', '-A', '-o', 'jsonpath={.items[*].metadata.namespace}'),
    ).not.toContain('outage')
  })

  it('has its objects collected by the garbage collector, as owners and as owned', async () => {
    await kubectl('create', 'configmap', 'owner', '-n', 'shop')
    const uid = await kubectl('get', 'configmap', 'owner', '-n', 'shop', '-o', 'jsonpath={.metadata.uid}')
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }
    await apply(anExport('shop', 'owned', { ownerReferences: [owner] }))
    const ownUid = await kubectl(
      'get',
      'serviceexport',
      'owned',
      '-n',
      'shop',
      '-o',
      'jsonpath={.metadata.uid}',
    )
    const ours = {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceExport',
      name: 'owned',
      uid: ownUid,
    }
    const metadata = { namespace: 'shop', name: 'dependent', ownerReferences: [ours] }
    await apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata })
    await kubectl('delete', 'configmap', 'owner', '-n', 'shop')
    await kubectl(
      'wait',
      '--for=delete',
      'serviceexport/owned',
      'configmap/dependent',
      '-n',
      'shop',
      '--timeout=60s',
    )
  })

  it('loses no event of a watch through kube-apiserver while it is restarted', async () => {
    const { kubeconfig, name } = lab.cluster(0)
    const cluster = await contextClient(kubeconfig, name)
    const stop = new AbortController()
    const log = memoryLogger()
    const selection = { namespace: 'shop', clock: systemClock, log }
    const informer = startInformer(cluster, resource(ServiceExportKind), selection, stop.signal)
    const seen: string[] = []
    informer.onChange(({ after }) => {
      if (after !== undefined) seen.push(after.metadata.name)
    })
    await informer.synced
    const names = Array.from({ length: 6 }, (_, index) => `roll-${index}`)
    for (const [index, each] of names.entries()) {
      await apply(anExport('shop', each))
      if (index % 2 === 1) continue
      await member.stop()
      await member.start()
      await untilAvailable(lab.cluster(0))
    }
    await eventually(() => expect(seen.filter(each => each.startsWith('roll-'))).toEqual(names))
    expect(log.lines.map(({ message }) => message)).not.toContain(
      'the server has gone back to an earlier revision, listing again',
    )
    stop.abort()
    cluster.close()
    await kubectl('delete', 'serviceexports', '-n', 'shop', '--all')
  })

  it('lets kubectl get -w go on over restarts, and never goes back', async () => {
    await apply(anExport('shop', 'watched'))
    const watch = watchAgain(lab.cluster(0).kubectl, [
      'serviceexports',
      '--namespace=shop',
      '--field-selector=metadata.name=watched',
    ])
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGTERM'] as const) {
      await eventually(() => expect(watch.events).not.toEqual([]))
      await member.stop(signal)
      await member.start()
      await untilAvailable(lab.cluster(0))
      await kubectl('label', 'serviceexport', 'watched', '-n', 'shop', '--overwrite', `seen=${signal}`)
      const now = await kubectl(...['get', 'serviceexport', 'watched', '-n', 'shop'], ...revisionOnly)
      await eventually(() => expect(watch.events.at(-1)).toMatch(new RegExp(`watched ${now}$`)), 30_000)
    }
    await watch.stop()
    // client-go itself makes an event of a connection that is cut, of which it knows no more; a stop cuts none.
    const cuts = watch.events.filter(event => event.startsWith('ERROR'))
    expect(cuts.length).toBeLessThanOrEqual(1)
    const told = watch.events.filter(event => !event.startsWith('ERROR'))
    const revisions = told.map(event => Number(event.split(' ').at(-1)))
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b))
    // Each end is one that kubectl knows from any kube-apiserver that ends a watch.
    expect(watch.ends).toEqual(watch.ends.map(() => '0'))
    expect(watch.ends.length).toBeGreaterThan(0)
    await kubectl('delete', 'serviceexport', 'watched', '-n', 'shop')
  })

  it('survives a restart of kube-apiserver, and refuses meanwhile', async () => {
    const cluster = lab.cluster(0)
    const headers = { 'x-remote-user': 'nobody-yet' }
    const stranger = await issueClient(
      cluster.identities.of('ca'),
      { user: 'stranger', groups: [] },
      lifetime,
    )
    await cluster.part('kube-apiserver')?.stop('SIGKILL')
    const { json } = await direct(stranger).send(exportsIn('shop'), { headers })
    expect(json).toMatchObject({ code: 500, reason: 'InternalError' })
    expect((await direct(cluster.identities.of('admin')).send(exportsIn('shop'))).status).toBe(200)
    expect((await direct().send('/readyz')).status).toBe(200)
    cluster.part('kube-apiserver')?.start()
    await cluster.ready()
    await untilAvailable(cluster)
    await eventually(async () =>
      expect((await direct(stranger).send(exportsIn('shop'))).json).toMatchObject({ code: 403 }),
    )
  })

  it('gets another serving certificate from files while a watch goes on', async () => {
    const authority = await makeAuthority('of others', lifetime)
    const [crt, key] = ['crt', 'key'].map(name => join(member.home, `tls.${name}`))
    const renew = async (): Promise<string> => {
      const made = await issueServing(authority, ['isthmus-member.isthmus-system.svc', 'localhost'], lifetime)
      writeFileSync(crt ?? '', made.certificate)
      writeFileSync(key ?? '', made.key)
      return new X509Certificate(made.certificate).serialNumber
    }
    const first = await renew()
    await member.stop()
    await member.start([`--tls-cert-file=${crt}`, `--tls-private-key-file=${key}`])
    const caBundle = Buffer.from(authority.certificate).toString('base64')
    const patch = JSON.stringify({ spec: { caBundle } })
    for (const name of groupVersions) await kubectl('patch', 'apiservice', name, '--type=merge', '-p', patch)
    await untilAvailable(lab.cluster(0))
    expect(await serialShown(member.url)).toBe(first)
    await apply(anExport('shop', 'before'))
    const watch = watchAgain(lab.cluster(0).kubectl, ['serviceexports', '-n', 'shop'])
    await eventually(() => expect(watch.events.join()).toContain('before'))
    const second = await renew()
    await eventually(async () => expect(await serialShown(member.url)).toBe(second), 30_000)
    await apply(anExport('shop', 'after'))
    await eventually(() => expect(watch.events.join()).toContain('after'))
    // No kubectl has ended: the connection is the one from before.
    expect(watch.ends).toEqual([])
    await watch.stop()
    await untilAvailable(lab.cluster(0))
  })
})
