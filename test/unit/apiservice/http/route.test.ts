import { describe, expect, it } from 'vitest'
import { isTrue, toRequestInfo } from '../../../../apiservice/http/route.ts'

const info = (method: string, target: string) => {
  const [path = '', query] = target.split('?')
  const ask = () => toRequestInfo(method, path, new URLSearchParams(query))
  const found = ask()
  // What was read once is remembered, and says the same.
  expect(ask()).toEqual(found)
  if (!found.isResource) return `${found.verb} ${found.path}`
  const { verb, group, version, namespace, resource, name, subresource } = found
  return [verb, group, version, namespace, resource, name, subresource].join('|')
}

describe('a path of a resource', () => {
  it.each([
    ['GET', '/api/v1/namespaces', 'list||v1||namespaces||'],
    ['GET', '/api/v1/namespaces/shop', 'get||v1|shop|namespaces|shop|'],
    ['PUT', '/api/v1/namespaces/shop/status', 'update||v1|shop|namespaces|shop|status'],
    ['PUT', '/api/v1/namespaces/shop/finalize', 'update||v1|shop|namespaces|shop|finalize'],
    ['GET', '/api/v1/namespaces/shop/services', 'list||v1|shop|services||'],
    ['GET', '/api/v1/namespaces/shop/services/web', 'get||v1|shop|services|web|'],
    ['HEAD', '/api/v1/namespaces/shop/services/web', 'get||v1|shop|services|web|'],
    ['PATCH', '/apis/g/v1/namespaces/shop/foos/web/status', 'patch|g|v1|shop|foos|web|status'],
    ['GET', '/apis/g/v1/namespaces/shop/foos/web/a/b', 'get|g|v1|shop|foos|web|a/b'],
    ['POST', '/apis/g/v1/foos', 'create|g|v1||foos||'],
    ['DELETE', '/apis/g/v1/foos', 'deletecollection|g|v1||foos||'],
    ['DELETE', '/apis/g/v1/foos/x', 'delete|g|v1||foos|x|'],
    ['GET', '/apis/g/v1/foos/', 'list|g|v1||foos||'],
    ['GET', '//apis/g/v1/foos', 'list|g|v1||foos||'],
    ['OPTIONS', '/apis/g/v1/foos', '|g|v1||foos||'],
    ['GET', `/apis/g/v1/foos/${'n'.repeat(253)}`, `get|g|v1||foos|${'n'.repeat(253)}|`],
    ['GET', '/apis/g/v1/foos/system:a@b', 'get|g|v1||foos|system:a@b|'],
  ])('%s %s', (method, target, expected) => {
    expect(info(method, target)).toBe(expected)
  })
})

describe('a watch', () => {
  it.each([
    ['/apis/g/v1/foos?watch=true', 'watch|g|v1||foos||'],
    ['/apis/g/v1/foos?watch=1', 'watch|g|v1||foos||'],
    ['/apis/g/v1/foos?watch', 'watch|g|v1||foos||'],
    ['/apis/g/v1/foos?watch=false', 'list|g|v1||foos||'],
    ['/apis/g/v1/foos?watch=0', 'list|g|v1||foos||'],
    ['/apis/g/v1/foos/x?watch=1', 'get|g|v1||foos|x|'],
    ['/apis/g/v1/watch/foos', 'watch|g|v1||foos||'],
    ['/apis/g/v1/watch/namespaces/shop/foos', 'watch|g|v1|shop|foos||'],
    ['/apis/g/v1/watch/namespaces/shop/foos/x', 'watch|g|v1|shop|foos|x|'],
    ['/apis/g/v1/watch', 'list|g|v1||watch||'],
  ])('%s', (target, expected) => {
    expect(info('GET', target)).toBe(expected)
  })
})

describe('a field selector on the name makes the request name it', () => {
  it.each([
    ['metadata.name=x', 'x'],
    ['metadata.name==x', 'x'],
    ['spec.a=b,metadata.name=x', 'x'],
    ['metadata.name!=x', ''],
    ['metadata.name=', ''],
    ['metadata.names=x', ''],
    ['metadata.name=..', ''],
    ['metadata.name=a/b', ''],
    ['spec.a=b\\,metadata.name=x', ''],
  ])('%s', (selector, name) => {
    const target = `/apis/g/v1/foos?fieldSelector=${encodeURIComponent(selector)}`
    expect(info('GET', target)).toBe(`list|g|v1||foos|${name}|`)
    expect(info('DELETE', target)).toBe('deletecollection|g|v1||foos||')
  })
})

describe('a path of no resource keeps its text', () => {
  it.each([
    '/',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/g',
    '/apis/g/v1',
    '/apis/g/v1/',
    '/version',
    '/healthz/ping',
    '/API/v1/x',
  ])('%s', path => {
    expect(info('GET', path)).toBe(`get ${path}`)
  })
})

it.each([
  ['GET', '/apis/g/v1/foos?labelSelector=a%3Db&fieldSelector=metadata.name%3Dx', ['a=b', 'metadata.name=x']],
  ['GET', '/apis/g/v1/foos?watch=1&labelSelector=a', ['a', undefined]],
  ['DELETE', '/apis/g/v1/foos?fieldSelector=x%3Dy', [undefined, 'x=y']],
  ['GET', '/apis/g/v1/foos?labelSelector=', [undefined, undefined]],
  ['GET', '/apis/g/v1/foos/web?labelSelector=a', [undefined, undefined]],
  ['POST', '/apis/g/v1/foos?labelSelector=a', [undefined, undefined]],
])('%s %s asks with the selectors %j', (method, target, expected) => {
  const [path = '', query] = target.split('?')
  const found = toRequestInfo(method, path, new URLSearchParams(query))
  if (!found.isResource) throw new Error('no resource')
  expect([found.labelSelector, found.fieldSelector]).toEqual(expected)
})

it.each([
  [null, false],
  ['', true],
  ['0', false],
  ['false', false],
  ['FALSE', false],
  ['1', true],
  ['true', true],
  ['no', true],
])('the boolean parameter %j is %j', (value, expected) => {
  expect(isTrue(value)).toBe(expected)
})

describe('a collection that was asked for before', () => {
  const target = (method: string, path: string) => info(method, path)
  const known = '/apis/g.example.com/v1/namespaces/shop/known'

  it.each([
    ['GET', `${known}/x`, 'get|g.example.com|v1|shop|known|x|'],
    ['POST', known, 'create|g.example.com|v1|shop|known||'],
    ['GET', known, 'list|g.example.com|v1|shop|known||'],
    ['DELETE', known, 'deletecollection|g.example.com|v1|shop|known||'],
    ['GET', `${known}/`, 'list|g.example.com|v1|shop|known||'],
    ['GET', `${known}/x/`, 'get|g.example.com|v1|shop|known|x|'],
    ['GET', `${known}//x`, 'list|g.example.com|v1|shop|known||x'],
    ['PATCH', `${known}/x/status`, 'patch|g.example.com|v1|shop|known|x|status'],
    ['PATCH', `${known}/x/status/deep`, 'patch|g.example.com|v1|shop|known|x|status/deep'],
    ['GET', `${known}er/x`, 'get|g.example.com|v1|shop|knowner|x|'],
    ['OPTIONS', `${known}/x`, '|g.example.com|v1|shop|known|x|'],
    ['GET', '/apis/g.example.com/v1/namespaces/shop', 'get|g.example.com|v1|shop|namespaces|shop|'],
    ['GET', '/apis/g.example.com/v1/watch/known', 'watch|g.example.com|v1||known||'],
    ['GET', `${known}?watch=1`, 'watch|g.example.com|v1|shop|known||'],
  ])('says nothing else of %s %s', (method, path, expected) => {
    for (const before of [
      `${known}/first`,
      '/apis/g.example.com/v1/watch',
      '/apis/g.example.com/v1/known/x',
    ]) {
      target('GET', before)
      expect(target(method, path)).toBe(expected)
    }
  })

  it('says the same when more were asked for than are kept', () => {
    for (let i = 0; i < 2_500; i++) {
      expect(target('GET', `/apis/g/v1/namespaces/ns-${i % 1_200}/foos/x`)).toBe(
        `get|g|v1|ns-${i % 1_200}|foos|x|`,
      )
    }
  })
})
