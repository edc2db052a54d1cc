// What kubectl prints when an export, or the Service of one, is going to conflict with those of other clusters.
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { exportsOf } from '../../src/api/exports-annotation.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { Kubectl, kubectlBinaries } from '../support/kubectl.ts'
import { serviceExports } from '../support/memory-fleet.ts'
import { type Member, members, type SeparateProcesses, separateProcesses } from './deployment.ts'
import { Shop, signal } from './shop.ts'

const [binary] = kubectlBinaries()

const service = (spec: string): string => `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: ${spec}
`
const serviceExport = (spec = '{}', version = 'v1beta1'): string => `
apiVersion: multicluster.x-k8s.io/${version}
kind: ServiceExport
metadata: {name: web, namespace: shop}
spec: ${spec}
`
const agreeing = '{ports: [{name: http, port: 80}]}'
const differing = '{clusterIP: None, sessionAffinity: ClientIP, ports: [{name: http, port: 8080}]}'

describe.skipIf(binary === undefined)('kubectl', () => {
  const cache = temporaryFolder()
  let deployment: SeparateProcesses
  let since: string

  beforeAll(async () => {
    deployment = await separateProcesses()
    const shop = new Shop(deployment)
    for (const member of members) await shop.open(member)
    await apply('east', `${service(agreeing)}---${serviceExport('{exportedLabels: {team: shop}}')}`)
    await eventually(async () => {
      const { metadata } = await shop.readyImport('west', 'web')
      expect(exportsOf(metadata)?.map(({ cluster }) => cluster)).toEqual(['east'])
    })
    const { metadata } = await deployment.client('east').get(serviceExports, web, signal())
    since = metadata.creationTimestamp ?? ''
  }, 120_000)

  afterAll(async () => {
    await deployment.stop()
    cache.dispose()
  })

  const web = { namespace: 'shop', name: 'web' }

  function kubectl(member: Member): Kubectl {
    const kubeconfig = join(deployment.homeOf(member), 'kubeconfig')
    const cacheDir = join(cache.path, member)
    return new Kubectl({ binary: binary ?? { name: '', path: '' }, kubeconfig, context: member, cacheDir })
  }

  /** The warnings that kubectl prints; it must succeed. */
  async function apply(
    member: Member,
    input: string,
    ...args: readonly string[]
  ): Promise<readonly string[]> {
    const { code, stderr } = await kubectl(member).try(['apply', '-f', '-', ...args], input)
    expect(code, stderr).toBe(0)
    return stderr.trim() === '' ? [] : stderr.trim().split('\n')
  }

  function unexport(member: Member): Promise<string> {
    return kubectl(member).run(['-n', 'shop', 'delete', 'svcex,svc', 'web', '--ignore-not-found'])
  }

  function warned(field: string, used: string, own: string): string {
    return `Warning: ${field}: ${used} of cluster east is used, not ${own} of this cluster: the older export wins, and that of cluster east counts since ${since}`
  }

  describe('in the younger cluster', () => {
    beforeEach(async () => {
      await unexport('west')
      await eventually(async () => {
        const found = await new Shop(deployment).importOf('west', 'web')
        expect(exportsOf(found.metadata)?.map(({ cluster }) => cluster)).toEqual(['east'])
      })
    })

    it.each([['v1beta1'], ['v1alpha1']])('tells whoever creates the export: %s', async version => {
      const both = `${service(differing)}---${serviceExport('{exportedLabels: {team: shop}}', version)}`
      const expected = [
        warned('ports', 'http:80/TCP', 'http:8080/TCP'),
        warned('type', 'ClusterSetIP', 'Headless'),
        warned('sessionAffinity', 'None', 'ClientIP'),
        warned('sessionAffinityConfig.clientIP.timeoutSeconds', 'no value', '10800'),
      ]
      expect(await apply('west', both)).toEqual(expected)
      expect(await apply('west', both, '--server-side', '--force-conflicts')).toEqual([])
    })

    it('tells whoever only tries, and nobody when all agree', async () => {
      await apply('west', service(differing))
      const agreeingLabels = serviceExport('{exportedLabels: {team: shop}}')
      expect(await apply('west', agreeingLabels, '--dry-run=server')).toHaveLength(4)
      await apply(
        'west',
        service('{sessionAffinity: None, ports: [{name: http, port: 80}]}'),
        '--dry-run=server',
      )
      await kubectl('west').run(['-n', 'shop', 'delete', 'svc', 'web'])
      expect(await apply('west', `${service(agreeing)}---${agreeingLabels}`)).toEqual([])
    })

    it('tells whoever changes the export, or its Service', async () => {
      const exported = serviceExport('{exportedLabels: {team: shop}}')
      expect(await apply('west', `${service(agreeing)}---${exported}`)).toEqual([])
      const patch = ['-n', 'shop', 'patch', 'svcex', 'web', '--type=merge']
      const other = await kubectl('west').try([...patch, '-p', '{"spec":{"exportedLabels":{"team":"ops"}}}'])
      expect(other.stderr).toBe(`${warned('exportedLabels', '{"team":"shop"}', '{"team":"ops"}')}\n`)
      const same = await kubectl('west').try([...patch, '-p', '{"spec":{"exportedLabels":{"team":"shop"}}}'])
      expect(same).toMatchObject({ code: 0, stderr: '' })
      expect(
        await apply('west', service('{sessionAffinity: ClientIP, ports: [{name: http, port: 80}]}')),
      ).toEqual([
        warned('sessionAffinity', 'None', 'ClientIP'),
        warned('sessionAffinityConfig.clientIP.timeoutSeconds', 'no value', '10800'),
      ])
    })

    it('tells nobody again who writes nothing of what is exported, nor tries to', async () => {
      const both = `${service(differing)}---${serviceExport('{exportedLabels: {team: ops}}')}`
      expect(await apply('west', both)).toHaveLength(5)
      for (const args of [
        ['label', 'svcex,svc', 'web', 'unrelated=1'],
        ['annotate', 'svcex,svc', 'web', 'unrelated=1', '--dry-run=server'],
        ['annotate', 'svcex,svc', 'web', 'unrelated=1'],
        ['patch', 'svc', 'web', '--type=merge', '-p', '{"spec":{"selector":{"app":"other"}}}'],
      ]) {
        expect(await kubectl('west').try(['-n', 'shop', ...args])).toMatchObject({ code: 0, stderr: '' })
      }
      const patch = '{"spec":{"exportedAnnotations":{"a":"1"}}}'
      for (const args of [['--dry-run=server'], []]) {
        const { stderr } = await kubectl('west').try([
          '-n',
          'shop',
          'patch',
          'svcex',
          'web',
          '--type=merge',
          '-p',
          patch,
          ...args,
        ])
        expect(stderr.trim().split('\n')).toHaveLength(6)
        expect(stderr).toContain(warned('exportedAnnotations', '{}', '{"a":"1"}'))
      }
    })

    it('shows the conflict in the columns of both', async () => {
      await apply('west', `${service(differing)}---${serviceExport('{exportedLabels: {team: shop}}')}`)
      const get = (what: string): Promise<string> =>
        kubectl('west').run(['-n', 'shop', 'get', what, 'web', '-o', 'wide'])
      await eventually(async () => {
        const [header, row] = (await get('svcex')).split('\n')
        expect(header).toMatch(
          /^NAME +VALID +READY +CONFLICT +AGE +VALID REASON +READY REASON +CONFLICT REASON +MESSAGE/,
        )
        expect(row).toMatch(
          /^web +True +True +True +\w+ +Valid +Exported +PortConflict,TypeConflict,\S+ +ports: using http:80\/TCP, .*; type: using ClusterSetIP of the oldest export \(east\); 1 of 2 clusters differ; /,
        )
      })
      const [header, row] = (await get('svcim')).split('\n')
      expect(header).toMatch(/^NAME +TYPE +IP +PORTS +CLUSTERS +READY +AGE +FAMILIES +FROM +REASON +MESSAGE/)
      expect(row).toMatch(
        /^web +ClusterSetIP +[\d.]+ +80\/TCP +east,west +True +\w+ +IPv4 +east,west +Ready *$/,
      )
    })

    it('goes on telling without the hub, also over a restart', async () => {
      await deployment.kill('hub')
      await deployment.kill('west')
      await deployment.start('west')
      const exported = serviceExport('{exportedLabels: {team: shop}}')
      await eventually(async () => expect(await apply('west', service(differing))).toEqual([]))
      await eventually(async () => expect(await apply('west', exported, '--dry-run=server')).toHaveLength(4))
      await deployment.start('hub')
    }, 60_000)
  })

  it('tells the older cluster only what it brings upon others', async () => {
    await unexport('west')
    await apply('west', `${service(agreeing)}---${serviceExport('{exportedLabels: {team: shop}}')}`)
    await eventually(async () => {
      const { metadata } = await new Shop(deployment).importOf('east', 'web')
      const clusters = exportsOf(metadata)?.map(({ cluster, definition }) => [cluster, definition?.type])
      expect(clusters).toEqual(members.map(member => [member, 'ClusterSetIP']))
    }, 45_000)
    const exported = serviceExport('{exportedLabels: {team: shop}}')
    expect(
      await apply('east', `${service(agreeing)}---${exported}`, '--server-side', '--force-conflicts'),
    ).toEqual([])
    expect(await apply('east', service('{ports: [{name: http, port: 8080}]}'))).toEqual([
      `Warning: ports: http:8080/TCP of this cluster is used, not http:80/TCP of cluster west: the older export wins, and that of this cluster counts since ${since}`,
    ])
  }, 60_000)

  it('tells the truth at each step of rolling out labels', async () => {
    await unexport('west')
    await apply('east', service(agreeing))
    const rolledOut = serviceExport('{exportedLabels: {team: ops}}')
    const different = [warned('exportedLabels', '{"team":"shop"}', '{"team":"ops"}')]
    await apply('west', service(agreeing))
    // What east changed takes its time to west.
    await eventually(async () =>
      expect(await apply('west', rolledOut, '--dry-run=server')).toEqual(different),
    )
    expect(await apply('west', rolledOut)).toEqual(different)
    await eventually(async () => {
      const { metadata } = await new Shop(deployment).importOf('east', 'web')
      const digests = new Set(exportsOf(metadata)?.map(({ labelsDigest }) => labelsDigest))
      expect(digests.size).toBe(2)
    }, 45_000)
    expect(await apply('east', rolledOut)).toEqual([])
  }, 60_000)
})
