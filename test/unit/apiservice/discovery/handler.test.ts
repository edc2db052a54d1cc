import { describe, expect, it } from 'vitest'
import { makeDiscovery } from '../../../../apiservice/discovery/handler.ts'
import type { AnyKind } from '../../../../src/api/kind.ts'
import { NamespaceKind } from '../../../../src/api/kinds/namespace.ts'
import { byText } from '../../../../src/api/order.ts'
import { anApiRequest } from '../../../support/api-request.ts'
import { WidgetKind } from '../../../support/widget.ts'

const all: readonly AnyKind[] = [WidgetKind, NamespaceKind]

function ask(target: string, headers: Record<string, string> = {}, kinds = all) {
  const discovery = makeDiscovery({
    kinds,
    serverAddress: () => '127.0.0.1:7443',
    otherPaths: ['/livez', '/metrics'],
  })
  const [path = '', query] = target.split('?')
  const reply = discovery(anApiRequest({ path, headers, query: new URLSearchParams(query) }))
  if (reply === undefined) return undefined
  if (reply.type !== 'raw') throw new Error(`answered as ${reply.type}`)
  return { code: reply.code, headers: reply.headers, body: Buffer.from(reply.body) }
}
const json = (...call: Parameters<typeof ask>) => JSON.parse(ask(...call)?.body.toString() ?? 'null')

const aggregated = (v: string) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`
const kubectl136 = `${aggregated('v2')};profile=nopeer,${aggregated('v2')},${aggregated('v2beta1')},application/json`
const kubectl127 = `${aggregated('v2beta1')},application/json`

describe('legacy discovery', () => {
  it('lists the groups, their versions and their resources', () => {
    expect(json('/apis')).toMatchObject({
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [{ name: 'example.com', preferredVersion: { groupVersion: 'example.com/v1', version: 'v1' } }],
    })
    expect(json('/apis/example.com')).toMatchObject({ kind: 'APIGroup', name: 'example.com' })
    expect(json('/apis/example.com/v1beta1')).toMatchObject({
      kind: 'APIResourceList',
      apiVersion: 'v1',
      groupVersion: 'example.com/v1beta1',
      resources: [
        {
          name: 'widgets',
          singularName: 'widget',
          namespaced: true,
          shortNames: ['wg'],
          categories: ['all'],
        },
        { name: 'widgets/status', singularName: '', namespaced: true },
      ],
    })
    expect(json('/api/v1')).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' })
    expect(json('/api')).toMatchObject({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:7443' }],
    })
  })

  it.each(['/apis', '/apis/example.com', '/apis/example.com/v1', '/api', '/api/v1', '/version'])(
    '%s is the same with a slash at its end',
    path => {
      expect(json(`${path}/`)).toEqual(json(path))
    },
  )

  it.each(['/apis/none', '/apis/example.com/v9', '/api/v2', '/nope'])('%s is left to others', path => {
    expect(ask(path)).toBeUndefined()
  })

  it('/api is not there without the core group, which clients take for just that', () => {
    expect(ask('/api', {}, [WidgetKind])).toBeUndefined()
  })
})

describe('aggregated discovery', () => {
  it.each([
    [kubectl136, 'v2'],
    [kubectl127, 'v2beta1'],
    [aggregated('v2beta1'), 'v2beta1'],
    [`application/json;q=0.5,${aggregated('v2')}`, 'v2'],
  ])('Accept %s is answered in %s, and the content type says so', (accept, version) => {
    for (const path of ['/apis', '/api']) {
      const answer = ask(path, { accept })
      expect(answer?.headers).toMatchObject({
        'content-type': aggregated(version),
        vary: 'Accept',
        'cache-control': 'public',
      })
      expect(JSON.parse(answer?.body.toString() ?? '')).toMatchObject({
        kind: 'APIGroupDiscoveryList',
        apiVersion: `apidiscovery.k8s.io/${version}`,
        items: [
          { versions: [{ freshness: 'Current' }, ...(path === '/apis' ? [{ version: 'v1beta1' }] : [])] },
        ],
      })
    }
  })

  it('a client that prefers plain JSON gets it', () => {
    const answer = ask('/apis', { accept: `application/json,${aggregated('v2')}` })
    expect(answer?.headers).toMatchObject({ 'content-type': 'application/json', vary: 'Accept' })
  })

  it('names a kind for every resource and subresource', () => {
    const { items } = json('/apis', { accept: aggregated('v2') })
    expect(items[0].versions[0].resources[0]).toMatchObject({
      resource: 'widgets',
      responseKind: { group: 'example.com', version: 'v1', kind: 'Widget' },
      scope: 'Namespaced',
      subresources: [{ subresource: 'status', responseKind: { kind: 'Widget' } }],
    })
  })

  it('is 304 for who has it, with the tag as it is or weak or among others', () => {
    const first = ask('/apis', { accept: aggregated('v2') })
    const etag = first?.headers.etag ?? ''
    expect(etag).toMatch(/^"[0-9A-F]{128}"$/)
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = ask('/apis', { accept: aggregated('v2'), 'if-none-match': tag })
      expect([again?.code, again?.body.length, again?.headers.etag]).toEqual([304, 0, etag])
    }
    expect(ask('/apis', { accept: aggregated('v2'), 'if-none-match': '"other"' })?.code).toBe(200)
  })

  it('has another tag when other kinds are served', () => {
    const tag = (kinds: readonly AnyKind[]) => ask('/apis', { accept: aggregated('v2') }, kinds)?.headers.etag
    expect(tag(all)).not.toBe(tag([{ ...WidgetKind, shortNames: [] }]))
  })

  it.each(['text/html', aggregated('v3'), 'application/vnd.kubernetes.protobuf'])(
    'refuses Accept %s with 406',
    accept => {
      expect(() => ask('/apis', { accept })).toThrow(
        'only the following media types are accepted: application/json',
      )
    },
  )
})

describe('OpenAPI', () => {
  it('v3 lists its documents with a hash, and each is there', () => {
    const { paths } = json('/openapi/v3')
    expect(Object.keys(paths).toSorted(byText)).toEqual([
      'api/v1',
      'apis/example.com/v1',
      'apis/example.com/v1beta1',
    ])
    const { serverRelativeURL } = paths['apis/example.com/v1']
    expect(serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/example\.com\/v1\?hash=[0-9A-F]{128}$/)
    const document = ask(serverRelativeURL)
    expect(document?.headers['cache-control']).toContain('immutable')
    expect(JSON.parse(document?.body.toString() ?? '')).toMatchObject({ openapi: '3.0.0' })
  })

  it('v3 answers the newest document to an old hash, and does not call it immutable', () => {
    const document = ask('/openapi/v3/apis/example.com/v1?hash=OLD')
    expect(document?.code).toBe(200)
    expect(document?.headers).not.toHaveProperty('cache-control')
  })

  it('v2 is JSON, or the protobuf that kubectl asks for in either spelling', () => {
    expect(json('/openapi/v2')).toMatchObject({ swagger: '2.0', info: { title: expect.any(String) } })
    for (const accept of [
      'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
      'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
    ]) {
      const answer = ask('/openapi/v2', { accept })
      expect(answer?.headers['content-type']).toBe(
        'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
      )
      expect(answer?.body.length).toBeGreaterThan(1_000)
    }
  })

  it.each(['/openapi/v2', '/openapi/v3', '/openapi/v3/apis/example.com/v1'])(
    '%s is 304 for who has it',
    path => {
      const first = ask(path)
      expect(ask(path, { 'if-none-match': first?.headers.etag ?? '' })?.code).toBe(304)
      expect(ask(path)?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true)
    },
  )

  it('v3 in protobuf only is refused with 406', () => {
    const accept = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'
    expect(() => ask('/openapi/v3', { accept })).toThrow('only the following media types are accepted')
  })
})

it('/version is a release that clients can compare with theirs', () => {
  expect(json('/version')).toMatchObject({
    major: '1',
    minor: '36',
    gitVersion: expect.stringMatching(/^v1\.36\.\d+\+/),
  })
})

it('/ lists every path', () => {
  expect(json('/').paths).toEqual([
    '/',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/example.com',
    '/apis/example.com/v1',
    '/apis/example.com/v1beta1',
    '/index.html',
    '/livez',
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/api/v1',
    '/openapi/v3/apis/example.com/v1',
    '/openapi/v3/apis/example.com/v1beta1',
    '/version',
  ])
})

it('only GET and HEAD are answered', () => {
  const discovery = makeDiscovery({ kinds: all, serverAddress: () => '', otherPaths: [] })
  expect(() => discovery(anApiRequest({ path: '/apis', method: 'POST' }))).toThrow(
    'does not allow this method',
  )
  expect(discovery(anApiRequest({ path: '/apis', method: 'HEAD' }))).toMatchObject({ code: 200 })
})
