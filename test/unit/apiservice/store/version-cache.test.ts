import { describe, expect, it } from 'vitest'
import { VersionCache } from '../../../../apiservice/store/version-cache.ts'
import type { StoredObject } from '../../../../apiservice/store-contract.ts'

function anObject(revision: number, bytes = 744): StoredObject {
  return { revision, resource: 'r', namespace: 'n', name: 'm', body: Buffer.alloc(bytes) }
}

function held(cache: VersionCache, ...revisions: readonly number[]): readonly number[] {
  return revisions.filter(revision => cache.get(revision) !== undefined)
}

describe('a cache of versions', () => {
  it('keeps those used last, up to its bytes', () => {
    const cache = new VersionCache(3000)
    for (const revision of [1, 2, 3]) cache.add(anObject(revision))
    expect(cache.get(1)?.revision).toBe(1)
    cache.add(anObject(4))
    expect(held(cache, 1, 2, 3, 4)).toEqual([1, 3, 4])
  })

  it('counts what is taken out or put in again only once', () => {
    const cache = new VersionCache(3000)
    for (let count = 0; count < 100; count++) cache.add(anObject(1))
    for (let revision = 2; revision < 100; revision++) {
      cache.add(anObject(revision))
      cache.delete(revision)
      cache.delete(revision)
    }
    cache.add(anObject(100))
    cache.add(anObject(101))
    expect(held(cache, 1, 2, 99, 100, 101)).toEqual([1, 100, 101])
  })

  it('does not keep what is larger than itself, nor lose the way', () => {
    const cache = new VersionCache(1000)
    cache.add(anObject(1, 5000))
    expect(cache.get(1)).toBeUndefined()
    cache.add(anObject(2))
    expect(held(cache, 2)).toEqual([2])
  })
})
