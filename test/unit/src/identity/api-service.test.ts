import { expect, it } from 'vitest'
import type { KubeObject } from '../../../../src/api/meta.ts'
import type { Resource } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { keepCaBundle } from '../../../../src/identity/api-service.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const apiServices: Resource = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  plural: 'apiservices',
  namespaced: false,
}
const ours = { namespace: 'isthmus-system', name: 'isthmus-member' }
const name = 'v1.example.com'
const base64 = (text: string): string => Buffer.from(text).toString('base64')

function world() {
  const clock = manualClock()
  const cluster = new MemoryCluster({ name: 'memory', clock })
  const stop = new AbortController()
  const options = { cluster, apiServices: [name], service: ours, caBundle: 'CA', clock, log: memoryLogger() }
  keepCaBundle(options, stop.signal)
  return {
    cluster,
    stop,
    create: (spec: object, named = name) =>
      cluster.create(apiServices, { ...apiService(spec), metadata: { name: named } }, never),
    spec: async (named = name) => {
      await settled()
      return (await cluster.get(apiServices, { name: named }, never)).spec
    },
  }
}

function apiService(spec: object): KubeObject {
  return { apiVersion: apiServices.apiVersion, kind: apiServices.kind, metadata: { name }, spec }
}

it('the authority is written into an APIService that names our Service, and only that is changed', async () => {
  const { create, spec, stop } = world()
  await create({ service: { ...ours, port: 443 }, versionPriority: 10, insecureSkipTLSVerify: true })
  expect(await spec()).toEqual({
    service: { ...ours, port: 443 },
    versionPriority: 10,
    caBundle: base64('CA'),
  })
  stop.abort()
})

it('what somebody else writes there is mended', async () => {
  const { cluster, create, spec, stop } = world()
  await create({ service: ours })
  expect(await spec()).toMatchObject({ caBundle: base64('CA') })
  await cluster.mergePatch(apiServices, { name }, { spec: { caBundle: base64('other') } }, { signal: never })
  expect(await spec()).toMatchObject({ caBundle: base64('CA') })
  stop.abort()
})

it.each([
  ['names another Service', { service: { ...ours, name: 'other' } }],
  ['names a Service elsewhere', { service: { ...ours, namespace: 'other' } }],
  ['is served by kube-apiserver', { service: null }],
])('an APIService that %s is left alone', async (_what, spec) => {
  const { create, spec: specOf, stop } = world()
  await create(spec)
  expect(await specOf()).toEqual(spec)
  stop.abort()
})

it('other APIServices are left alone', async () => {
  const { create, spec, stop } = world()
  await create({ service: ours }, 'v1.other.example.com')
  expect(await spec('v1.other.example.com')).toEqual({ service: ours })
  stop.abort()
})
