import { describe, expect, it } from 'vitest'
import {
  apiGroup,
  apiGroupDiscoveryList,
  apiGroupList,
  apiResourceList,
  apiVersions,
  compareVersions,
  groupsOf,
  storageVersionHash,
  subresourcesOf,
  verbsOf,
  versionsOf,
} from '../../../../../src/api/derive/discovery.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const mcs = 'multicluster.x-k8s.io'
const all = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

function mcsResource(kind: string, plural: string, shortNames: readonly string[]) {
  return [
    {
      kind,
      name: plural,
      namespaced: true,
      shortNames,
      singularName: kind.toLowerCase(),
      storageVersionHash: storageVersionHash(kindNamed(kind)),
      verbs: all,
    },
    { kind, name: `${plural}/status`, namespaced: true, singularName: '', verbs: ['get', 'patch', 'update'] },
  ]
}

describe('what a kube-apiserver answers about the MCS group', () => {
  it('the group', () => {
    const v = (version: string) => ({ groupVersion: `${mcs}/${version}`, version })
    expect(apiGroup(kinds, mcs)).toEqual({
      apiVersion: 'v1',
      kind: 'APIGroup',
      name: mcs,
      preferredVersion: v('v1beta1'),
      versions: [v('v1beta1'), v('v1alpha1')],
    })
  })

  it.each(['v1beta1', 'v1alpha1'])('its resources at %s', version => {
    expect(apiResourceList(kinds, mcs, version)).toEqual({
      apiVersion: 'v1',
      groupVersion: `${mcs}/${version}`,
      kind: 'APIResourceList',
      resources: [
        ...mcsResource('ServiceExport', 'serviceexports', ['svcex', 'svcexport']),
        ...mcsResource('ServiceImport', 'serviceimports', ['svcim', 'svcimport']),
      ],
    })
  })

  it('nothing about groups and versions that there are not', () => {
    expect(apiGroup(kinds, 'nope.example.com')).toBeUndefined()
    expect(apiResourceList(kinds, mcs, 'v1')).toBeUndefined()
    expect(versionsOf(kinds, 'nope.example.com')).toEqual([])
  })
})

describe('discovery', () => {
  it('names the core group apart from the others', () => {
    expect(groupsOf(kinds)).toContain('rbac.authorization.k8s.io')
    expect(groupsOf(kinds)).not.toContain('')
    expect(apiGroupList(kinds).groups.map(g => g.name)).toEqual(groupsOf(kinds))
    expect(apiVersions('127.0.0.1:7444')).toEqual({
      kind: 'APIVersions',
      apiVersion: 'v1',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:7444' }],
    })
  })

  it('tells what may be done by how a kind is kept', () => {
    expect(verbsOf(kindNamed('Service'))).toEqual(all)
    expect(verbsOf(kindNamed('Namespace'))).toEqual(all.filter(verb => verb !== 'deletecollection'))
    expect(verbsOf(kindNamed('SelfSubjectAccessReview'))).toEqual(['create'])
    expect(verbsOf(kindNamed('Importable'))).toEqual(['get', 'list', 'watch'])
    expect(subresourcesOf(kindNamed('Namespace')).map(s => s.name)).toEqual(['finalize', 'status'])
    expect(subresourcesOf(kindNamed('ConfigMap'))).toEqual([])
  })

  it('hashes the stored version as kube-apiserver does', () => {
    const pod = { ...kindNamed('Service'), kind: 'Pod' }
    expect(storageVersionHash(pod)).toBe('xPOwRZ+Yhw8=')
  })

  it('prefers what is more stable, then what is newer', () => {
    const versions = ['foo1', 'v1alpha1', 'v2', 'v10', 'v1beta2', 'v1', 'v1beta10', 'v11alpha2', 'foo10']
    expect(versions.toSorted(compareVersions)).toEqual([
      'v10',
      'v2',
      'v1',
      'v1beta10',
      'v1beta2',
      'v11alpha2',
      'v1alpha1',
      'foo1',
      'foo10',
    ])
  })
})

describe('aggregated discovery', () => {
  it.each(['v2', 'v2beta1'] as const)('in %s has all of a kind in one place', version => {
    const list = apiGroupDiscoveryList(kinds, version, 'groups')
    expect(list).toMatchObject({
      kind: 'APIGroupDiscoveryList',
      apiVersion: `apidiscovery.k8s.io/${version}`,
    })
    const responseKind = { group: mcs, version: 'v1beta1', kind: 'ServiceImport' }
    const group = list.items.find(item => item.metadata.name === mcs)
    expect(group?.versions.map(v => [v.version, v.freshness])).toEqual([
      ['v1beta1', 'Current'],
      ['v1alpha1', 'Current'],
    ])
    expect(group?.versions[0]?.resources[1]).toEqual({
      resource: 'serviceimports',
      responseKind,
      scope: 'Namespaced',
      singularResource: 'serviceimport',
      verbs: all,
      shortNames: ['svcim', 'svcimport'],
      subresources: [{ subresource: 'status', responseKind, verbs: ['get', 'patch', 'update'] }],
    })
  })

  it('has the core group by itself, and none where there is none', () => {
    const core = apiGroupDiscoveryList(kinds, 'v2', 'core')
    expect(core.items).toHaveLength(1)
    expect(core.items[0]?.versions[0]?.resources.map(r => r.resource)).toContain('services')
    const withoutCore = kinds.filter(k => k.group !== '')
    expect(apiGroupDiscoveryList(withoutCore, 'v2', 'core').items).toEqual([])
  })

  it('never leaves out a response kind', () => {
    const lists = (['core', 'groups'] as const).map(which => apiGroupDiscoveryList(kinds, 'v2', which))
    const resources = lists.flatMap(l => l.items.flatMap(g => g.versions.flatMap(v => v.resources)))
    const responseKinds = resources.flatMap(r => [r, ...(r.subresources ?? [])].map(s => s.responseKind))
    expect(responseKinds.length).toBeGreaterThan(kinds.length)
    expect(responseKinds.filter(r => r.kind === '' || r.version === '')).toEqual([])
  })
})
