import { describe, expect, it } from 'vitest'
import type { StoredObject } from '../../../../apiservice/store-contract.ts'
import { ImportableView, type ViewMember } from '../../../../apiservice/view/importable.ts'
import type { ObjectMeta } from '../../../../src/api/meta.ts'
import { decodeBody, encodeBody } from '../../../../src/codec/object-bytes.ts'

const member = (cluster: string, overrides: Partial<ViewMember> = {}): ViewMember => ({
  cluster,
  namespace: `member-${cluster}`,
  accepted: true,
  namespaces: undefined,
  revision: 1,
  ...overrides,
})

function stored(
  resource: string,
  object: { readonly metadata: ObjectMeta; readonly [field: string]: unknown },
  revision = 7,
): StoredObject {
  const { namespace = '', name } = object.metadata
  const body = encodeBody({ apiVersion: '', kind: '', ...object })
  return { revision, resource: `${resource}.hub.isthmus.dev`, namespace, name, body }
}

const serviceIdentity = { name: 'shop.web', uid: 'u1', creationTimestamp: '2026-01-02T03:04:05Z' }
const service = (spec: object = {}, status: object = {}): StoredObject =>
  stored('clustersetservices', {
    metadata: serviceIdentity,
    spec: { namespace: 'shop', service: 'web', type: 'ClusterSetIP', ...spec },
    status: { clusters: [{ cluster: 'east', ports: [] }], ...status },
  })

const slice = (cluster: string, spec: object = {}): StoredObject =>
  stored('exportedendpointslices', {
    metadata: { namespace: `member-${cluster}`, name: 'shop.web-abc', uid: 'u2' },
    spec: { namespace: 'shop', service: 'web', slice: 'web-abc', ...spec },
  })

function viewOf(...members: readonly ViewMember[]): ImportableView {
  const view = new ImportableView()
  view.setMembers(members, 1)
  return view
}

describe('ImportableView', () => {
  it('shows a member services, and slices of other members only', () => {
    const view = viewOf(member('east'), member('west'))
    expect(view.visible('member-west', service())).toBe(true)
    expect(view.visible('member-west', slice('east'))).toBe(true)
    expect(view.visible('member-east', service())).toBe(true)
    expect(view.visible('member-east', slice('east'))).toBe(false)
  })

  it('names the namespaces of its members in order', () => {
    expect(viewOf(member('west'), member('east'), member('east-1')).namespaces()).toEqual([
      'member-east-1',
      'member-east',
      'member-west',
    ])
  })

  it('shows nothing in a namespace that is no accepted member’s', () => {
    const view = viewOf(member('east'), member('west', { accepted: false }))
    for (const namespace of ['member-west', 'member-north', 'default', '']) {
      expect(view.visible(namespace, service())).toBe(false)
      expect(view.visible(namespace, slice('east'))).toBe(false)
    }
  })

  it('shows only the namespaces that the member takes part in', () => {
    const view = viewOf(member('east'), member('west', { namespaces: ['bank'] }))
    expect(view.visible('member-west', service())).toBe(false)
    expect(view.visible('member-west', slice('east'))).toBe(false)
    expect(view.visible('member-west', slice('east', { namespace: 'bank' }))).toBe(true)
  })

  it('shows only what the exporter lets the member import', () => {
    const view = viewOf(member('east'), member('west'), member('north'))
    const chosen = { consumers: ['north'] }
    expect(view.visible('member-west', slice('east', chosen))).toBe(false)
    expect(view.visible('member-north', slice('east', chosen))).toBe(true)
    expect(view.visible('member-west', service(chosen))).toBe(false)
    expect(view.visible('member-north', service(chosen))).toBe(true)
  })

  it('shows each member what the exports that it may import come to, and nothing of the others', () => {
    const view = viewOf(member('east'), member('west'), member('north'), member('south'))
    const audiences = [
      { consumers: ['east', 'north'], clusters: ['east', 'west'], spec: { type: 'Headless' } },
      { consumers: ['west'], clusters: ['west'], spec: { type: 'ClusterSetIP', ips: ['10.7.0.1'] } },
    ]
    const clusters = [
      { cluster: 'east', ports: [] },
      { cluster: 'west', ports: [] },
    ]
    const object = service({ consumers: ['east', 'north', 'west'] }, { clusters, audiences })
    const seenBy = (reader: string) => decodeBody('', '', view.render(`member-${reader}`, object)).object
    for (const reader of ['east', 'north']) {
      expect(view.visible(`member-${reader}`, object)).toBe(true)
      expect(seenBy(reader)).toEqual({
        apiVersion: 'hub.isthmus.dev/v1alpha1',
        kind: 'ClusterSetService',
        metadata: { ...serviceIdentity, resourceVersion: '7' },
        spec: { namespace: 'shop', service: 'web', type: 'Headless', reported: true },
        status: { clusters },
      })
    }
    expect(seenBy('west')).toMatchObject({
      spec: { ips: ['10.7.0.1'] },
      status: { clusters: [{ cluster: 'west' }] },
    })
    expect(JSON.stringify(seenBy('west'))).not.toMatch(/east|north|audiences/)
    expect(view.visible('member-south', object)).toBe(false)
    const others = { clusters: ['west'], spec: { type: 'ClusterSetIP' } }
    const forAll = service({}, { clusters, audiences: [...audiences, others] })
    expect(view.visible('member-south', forAll)).toBe(true)
    expect(decodeBody('', '', view.render('member-south', forAll)).object).toMatchObject({
      spec: { type: 'ClusterSetIP' },
      status: { clusters: [{ cluster: 'west' }] },
    })
  })

  it.each([
    ['of a cluster that it sees', '2026-01-02T03:04:05.000Z member-east', ['north']],
    ['of another cluster', '2026-01-02T03:04:05.000Z member-west', ['north', 'south']],
    ['of nobody', '2026-01-02T03:04:05.000Z', []],
    ['that cannot be read', 'yesterday member-west', []],
  ])('tells only who sees the cluster of a change %s', (_whose, changed, told) => {
    const view = viewOf(member('east'), member('west'), member('north'), member('south'))
    const spec = { type: 'Headless' }
    const audiences = [
      { consumers: ['north'], clusters: ['east', 'west'], spec },
      { clusters: ['west'], spec },
    ]
    const metadata = { ...serviceIdentity, annotations: { 'isthmus.dev/changed': changed, 'a/b': 'c' } }
    const plain = { namespace: 'shop', service: 'web', type: 'Headless' }
    const object = stored('clustersetservices', {
      metadata,
      spec: plain,
      status: { clusters: [], audiences },
    })
    const seen = ['north', 'south'].map(reader => {
      const shown = decodeBody('', '', view.render(`member-${reader}`, object)).object
      expect(shown).toMatchObject({ metadata: { annotations: { 'a/b': 'c' } } })
      return JSON.stringify(shown).includes(changed) ? [reader] : []
    })
    expect(seen.flat()).toEqual(told)
  })

  it('hides a service that nobody exports any more', () => {
    const released = service({}, { releasedAt: '2026-01-02T03:04:05Z' })
    expect(viewOf(member('west')).visible('member-west', released)).toBe(false)
  })

  it('shows an object as an Importable of the reader, at the same revision, with the source that the hub knows', () => {
    const view = viewOf(member('east'), member('west'))
    const rendered = view.render('member-west', slice('east'))
    expect({ ...rendered, body: undefined }).toEqual({
      revision: 7,
      resource: 'importables.hub.isthmus.dev',
      namespace: 'member-west',
      name: 'member-east.shop.web-abc',
      body: undefined,
    })
    expect(decodeBody('hub.isthmus.dev/v1alpha1', 'Importable', rendered)).toEqual({
      apiVersion: 'hub.isthmus.dev/v1alpha1',
      kind: 'Importable',
      metadata: {
        name: 'member-east.shop.web-abc',
        namespace: 'member-west',
        uid: 'u2',
        resourceVersion: '7',
      },
      source: 'east',
      object: {
        apiVersion: 'hub.isthmus.dev/v1alpha1',
        kind: 'ExportedEndpointSlice',
        metadata: { name: 'shop.web-abc', namespace: 'member-east', uid: 'u2', resourceVersion: '7' },
        spec: { namespace: 'shop', service: 'web', slice: 'web-abc' },
      },
    })
  })

  it.each([
    ['a service', service()],
    ['a slice', slice('east')],
  ])('finds %s under the name that it is shown with', (_, object) => {
    const view = viewOf(member('east'), member('west'))
    const { resource, namespace, name } = object
    const shown = view.render('member-west', object)
    expect(view.keysOf(shown.name)).toContainEqual({ resource, namespace, name })
  })

  it('shows a service without a source', () => {
    const rendered = viewOf(member('west')).render('member-west', service())
    const object = decodeBody('hub.isthmus.dev/v1alpha1', 'Importable', rendered)
    expect(object).toMatchObject({
      metadata: { name: 'shop.web', creationTimestamp: '2026-01-02T03:04:05Z' },
      object: { kind: 'ClusterSetService', status: { clusters: [{ cluster: 'east' }] } },
    })
    expect(object.source).toBeUndefined()
  })

  it('carries the bytes of the object as they are stored', () => {
    const object = slice('east')
    const { body } = viewOf(member('east')).render('member-west', object)
    expect(body.includes(object.body)).toBe(true)
  })

  it('tells whose rights have changed, and nobody else', () => {
    const view = viewOf(member('east'), member('west', { namespaces: ['a', 'b'] }))
    const told: string[] = []
    const stop = view.onChange(namespace => told.push(namespace))
    view.setMembers([member('east'), member('west', { namespaces: ['b', 'a'] }), member('north')], 9)
    expect(told.splice(0)).toEqual(['member-north'])
    view.setMembers([member('east', { accepted: false }), member('west'), member('north')], 9)
    expect(told.splice(0)).toEqual(['member-east', 'member-west'])
    view.setMembers([member('west'), member('north')], 9)
    expect(told).toEqual([])
    stop()
    view.setMembers([], 9)
    expect(told).toEqual([])
  })

  it('knows since when a namespace sees what it sees', () => {
    const view = viewOf(member('east'), member('west', { revision: 3 }))
    expect([view.since('member-east'), view.since('member-west'), view.since('')]).toEqual([1, 3, 3])
    view.setMembers(
      [member('east', { revision: 5 }), member('west', { namespaces: ['bank'], revision: 6 })],
      9,
    )
    expect([view.since('member-east'), view.since('member-west'), view.since('')]).toEqual([1, 6, 6])
    view.setMembers([member('east')], 9)
    expect([view.since('member-east'), view.since('member-west'), view.since('')]).toEqual([1, 9, 9])
    expect(view.since('member-north')).toBe(0)
  })
})
