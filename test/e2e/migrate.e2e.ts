// From CustomResourceDefinitions of our group, as other implementations install them, to a member of ours.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { runRole } from '../support/role-process.ts'
import { serviceExport } from '../support/shop.ts'
import {
  type AggregatedMember,
  groupVersions,
  startAggregatedMember,
  untilAvailable,
} from './aggregated-member.ts'
import { useLab } from './lab/use-lab.ts'

describe('a cluster whose exports are custom resources', () => {
  const lab = useLab({ name: 'migrate', count: 1, nodes: false })
  let member: AggregatedMember
  const kubectl = (...args: readonly string[]): Promise<string> => lab.cluster(0).kubectl.run(args)
  const apply = (object: object): Promise<string> =>
    lab.cluster(0).kubectl.run(['apply', '-f', '-'], JSON.stringify(object))
  const migrate = (...args: readonly string[]): Promise<string> => {
    const kubeconfig = join(lab.cluster(0).folder, 'member-account/kubeconfig')
    return runRole(['migrate', '--home', member.home, '--kubeconfig', kubeconfig, ...args])
  }
  const namesOfExports = async (): Promise<readonly string[]> =>
    (await kubectl('get', 'serviceexports', '-n', 'shop', '-o', 'name')).trim().split('\n')
  const exported = ['db', 'web'].map(name => `serviceexport.multicluster.x-k8s.io/${name}`)
  const servers = (): Promise<string> =>
    kubectl('get', 'apiservices', ...groupVersions, '-o', 'jsonpath={.items[*].spec.service.name}')

  beforeAll(async () => {
    await kubectl('apply', '-f', 'deploy/crds')
    await kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=30s')
    await kubectl('create', 'namespace', 'shop')
    await eventually(() => apply(serviceExport('web')))
    await apply(serviceExport('db'))
    member = await startAggregatedMember(lab.cluster(0))
  }, 300_000)
  afterAll(() => member.stop())

  it('is told that requests do not come to the member', async () => {
    await eventually(async () => expect(await servers()).toBe(''))
    await eventually(() =>
      expect(member.process.output.join('\n')).toContain(
        'a CustomResourceDefinition serves this version, and requests do not come here: isthmus migrate',
      ),
    )
  })

  it('is left as it is when it is only asked what would be done, and while rights are missing', async () => {
    await expect(migrate()).rejects.toThrow('serviceexports.multicluster.x-k8s.io is forbidden')
    await kubectl('apply', '-k', 'deploy/migrate')
    await eventually(async () => {
      const output = await migrate('--dry-run', 'yes')
      expect(output).toContain('ServiceExport shop/db would be carried over')
    })
    expect(await servers()).toBe('')
  })

  it('has its exports at the member afterwards, and loses none when the definitions go', async () => {
    expect(await migrate()).toMatch(
      /shop\/db is carried over[\s\S]*shop\/web is carried over[\s\S]*led v1alpha1/,
    )
    expect(await servers()).toBe('isthmus-member isthmus-member')
    // The lab's member listens elsewhere than a Service does.
    const port = Number(new URL(member.url).port)
    for (const name of groupVersions)
      await kubectl(
        'patch',
        'apiservice',
        name,
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { service: { port } } }),
      )
    await untilAvailable(lab.cluster(0))
    expect(await namesOfExports()).toEqual(exported)
    await kubectl('delete', '-f', 'deploy/crds', '--timeout=60s')
    expect(await servers()).toBe('isthmus-member isthmus-member')
    expect(await namesOfExports()).toEqual(exported)
    await apply({ ...serviceExport('late'), apiVersion: 'multicluster.x-k8s.io/v1alpha1' })
    expect(await namesOfExports()).toHaveLength(3)
    expect(await migrate()).toContain('there is nothing to do')
  })
})
