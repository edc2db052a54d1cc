import { describe, expect, it } from 'vitest'
import { ConfigMapKind } from '../../../../src/api/kinds/config-map.ts'
import { EndpointSliceKind } from '../../../../src/api/kinds/endpoint-slice.ts'
import { ServiceKind } from '../../../../src/api/kinds/service.ts'
import { ServiceExportKind } from '../../../../src/api/kinds/service-export.ts'
import type { KubeObject } from '../../../../src/api/meta.ts'
import { serviceManager, sliceManager, wellKnown } from '../../../../src/api/well-known.ts'
import { apiServices } from '../../../../src/cluster/api-services.ts'
import { keyOf, type Resource, resource } from '../../../../src/cluster/cluster.ts'
import { startInformer } from '../../../../src/cluster/informer.ts'
import { MemoryCluster, type MemoryRequest } from '../../../../src/cluster/memory.ts'
import { background, never } from '../../../../src/kernel/abort.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { uninstall } from '../../../../src/uninstall/uninstall.ts'
import { apiService, memberService, served } from '../../../support/api-services.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { serviceExport } from '../../../support/shop.ts'

const pods: Resource = {
  group: '',
  version: 'v1',
  apiVersion: 'v1',
  kind: 'Pod',
  plural: 'pods',
  namespaced: true,
}
const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
}
const object = (
  of: Resource<unknown>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): KubeObject => ({
  apiVersion: of.apiVersion,
  kind: of.kind,
  metadata: { namespace: 'shop', name, labels },
})
const derived = { [wellKnown.serviceManagedBy]: serviceManager }
const imported = { [wellKnown.managedBy]: sliceManager }
const member = {
  ...object(deployments, memberService.name),
  metadata: { ...memberService },
}

function world(intercept: (request: MemoryRequest) => void = () => undefined) {
  const clock = manualClock()
  const deleted: string[] = []
  const cluster = new MemoryCluster({
    name: 'memory',
    clock,
    intercept: request => {
      intercept(request)
      if (request.verb === 'delete' && request.ref !== undefined)
        deleted.push(`${request.resource.kind} ${keyOf(request.ref)}`)
    },
  })
  const add = (of: Resource, ...objects: readonly KubeObject[]): Promise<unknown> =>
    Promise.all(objects.map(each => cluster.create(of, each, never)))
  const run = async (): Promise<readonly string[]> => {
    const lines: string[] = []
    let isDone = false
    const options = { cluster, apiServices: served, service: memberService, clock }
    const done = uninstall({ ...options, report: line => lines.push(line) }, never).finally(() => {
      isDone = true
    })
    done.catch(() => undefined)
    while (!isDone) await clock.advance(500)
    await done
    return lines
  }
  return { cluster, add, run, deleted }
}

describe('uninstall', () => {
  it('deletes the APIServices, then the member, then what it derived, and nothing of others', async () => {
    const { add, cluster, deleted, run } = world()
    for (const name of served) await cluster.create(apiServices, apiService(name), never)
    await add(deployments, member)
    await add(
      resource(ServiceKind),
      object(resource(ServiceKind), 'derived-a', derived),
      object(resource(ServiceKind), 'web'),
    )
    const slices = resource(EndpointSliceKind)
    await add(slices, object(slices, 'imported-a', imported), object(slices, 'web-abc'))
    await run()
    expect(deleted.slice(0, 3)).toEqual([
      ...served.map(name => `APIService ${name}`),
      'Deployment isthmus-system/isthmus-member',
    ])
    expect(deleted).toEqual(
      expect.arrayContaining(['Service shop/derived-a', 'EndpointSlice shop/imported-a']),
    )
    expect((await cluster.list(resource(ServiceKind), {}, never)).items.map(keyOfItem)).toEqual(['shop/web'])
    expect((await cluster.list(slices, {}, never)).items.map(keyOfItem)).toEqual(['shop/web-abc'])
    expect((await cluster.list(apiServices, {}, never)).items).toEqual([])
    // Nothing is left to do, and that is no failure.
    expect((await run()).filter(line => line.startsWith('deleted'))).toEqual([])
  })

  it('leaves an APIService alone that leads elsewhere, and says so', async () => {
    const { cluster, run } = world()
    const [name = ''] = served
    await cluster.create(apiServices, apiService(name, { namespace: 'other', name: 'server' }), never)
    expect(await run()).toContain(
      `left: APIService ${name}, which does not lead to isthmus-system/isthmus-member`,
    )
    expect((await cluster.list(apiServices, {}, never)).items).toHaveLength(1)
  })

  it('names the exports that are left, and the DNS that forwards to nobody', async () => {
    const { add, run } = world()
    await add(resource(ServiceExportKind), serviceExport())
    const corefile = {
      ...object(resource(ConfigMapKind), 'coredns'),
      metadata: { namespace: 'kube-system', name: 'coredns' },
      data: { Corefile: 'clusterset.local:53 {\n    forward . 10.96.0.53\n}\n' },
    }
    await add(resource(ConfigMapKind), corefile)
    const lines = (await run()).join('\n')
    expect(lines).toMatch(/^left: ServiceExport shop\/web/m)
    expect(lines).toMatch(/^left: ConfigMap kube-system\/coredns, which forwards clusterset[.]local/m)
    expect(lines).toMatch(/^left: on the hub: the MemberCluster/m)
    expect(lines).not.toContain('node-local-dns')
  })

  it('ends when the member does not answer', async () => {
    const { cluster, run } = world(({ resource: { kind } }) => {
      if (kind === 'ServiceExport') throw unavailable('no endpoints')
    })
    for (const name of served) await cluster.create(apiServices, apiService(name), never)
    expect((await run()).join('\n')).toMatch(
      /^left: the ServiceExports of the cluster, which cannot be read: no endp/m,
    )
    expect((await cluster.list(apiServices, {}, never)).items).toEqual([])
  })

  describe('while the member runs', () => {
    /** A member that answers so when it is asked to leave. */
    const answering = async (text: string | undefined, before?: string) => {
      const { add, cluster, deleted, run } = world()
      const labels = { 'app.kubernetes.io/name': 'isthmus', 'app.kubernetes.io/component': 'member' }
      await add(pods, { ...object(pods, 'member-abc'), metadata: { ...memberService, name: 'abc', labels } })
      const services = resource(ServiceKind)
      const annotations = before === undefined ? {} : { [wellKnown.leave]: before }
      await add(services, { ...object(services, ''), metadata: { ...memberService, annotations } })
      const stop = new AbortController()
      const options = { clock: manualClock(), log: silentLogger }
      const informer = startInformer(cluster, services, options, stop.signal)
      const log: string[] = []
      informer.onChange(({ after }) => {
        if (after?.metadata.annotations?.[wellKnown.leave] !== 'asked' || text === undefined) return
        log.push(...deleted)
        const patch = { metadata: { annotations: { [wellKnown.leave]: text } } }
        background('answer', silentLogger, stop.signal, async signal => {
          await cluster.mergePatch(services, memberService, patch, { signal })
        })
      })
      const lines = await run()
      stop.abort()
      return { lines, log }
    }

    it('has it tell the hub before it is deleted', async () => {
      const { lines, log } = await answering('done')
      expect(lines).toContain('deleted: MemberCluster of this cluster, on the hub')
      expect(lines.at(-1)).toMatch(
        /^left: on the hub: the namespace of this cluster, of which nothing counts/,
      )
      expect(log).toEqual([])
    })

    it('does not go by an answer of an earlier time', async () => {
      const { lines } = await answering('the hub is away', 'done')
      expect(lines.at(-1)).toContain('(the hub is away)')
    })

    it.each([
      ['the hub is away', 'the hub is away'],
      [undefined, 'the member does not answer'],
    ])('names what is left on the hub when it cannot: %s', async (text, why) => {
      const { lines } = await answering(text)
      expect(lines.at(-1)).toBe(
        `left: on the hub: the MemberCluster of this cluster and the namespace in its status (${why}); delete both there, or other clusters keep its endpoints`,
      )
    })
  })

  it('remembers that the hub was told before the member went', async () => {
    const { add, run } = world()
    const services = resource(ServiceKind)
    const metadata = { ...memberService, annotations: { [wellKnown.leave]: 'done' } }
    await add(services, { ...object(services, ''), metadata })
    expect((await run()).at(-1)).toMatch(/^left: on the hub: the namespace of this cluster, of which nothing/)
  })

  it('waits for the pods of the member, but not for ever', async () => {
    const { add, run } = world()
    const labels = { 'app.kubernetes.io/name': 'isthmus', 'app.kubernetes.io/component': 'member' }
    const pod = {
      ...object(pods, 'member-abc'),
      metadata: { namespace: 'isthmus-system', name: 'member-abc', labels },
    }
    await add(pods, pod)
    await add(resource(ServiceKind), object(resource(ServiceKind), 'derived-a', derived))
    const lines = await run()
    expect(lines).toContain('left: Pod isthmus-system/member-abc, which does not end')
    expect(lines).toContain('deleted: Service shop/derived-a')
  })
})

function keyOfItem({ metadata }: KubeObject): string {
  return keyOf(metadata)
}
