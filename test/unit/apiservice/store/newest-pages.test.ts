import { beforeEach, describe, expect, it } from 'vitest'
import { NewestPages, type Page } from '../../../../apiservice/store/newest-pages.ts'
import type { ListOptions, StoredObject } from '../../../../apiservice/store-contract.ts'
import { inScope } from '../../../conformance/store/harness.ts'

const scope = inScope('', 'widgets')
let pages: NewestPages
let reads: number

/** As the store finds it now; a page that is known is not read. */
function page(options: ListOptions = { limit: 40 }, of = scope, items = 40): Page<StoredObject> {
  return pages.page(of, options, () => {
    reads++
    const body = Buffer.alloc(0)
    const name = (at: number): string => `w-${at}`
    const found = Array.from({ length: items }, (_, at): StoredObject => {
      return { revision: at + 1, resource: 'widgets', namespace: '', name: name(at), body }
    })
    return { items: found, remaining: 0 }
  })
}

beforeEach(() => {
  pages = new NewestPages()
  reads = 0
  pages.changed('widgets', 5)
})

describe('pages of what is there now', () => {
  it('are read again when something of their resource has changed, and only then', () => {
    const first = page()
    pages.changed('gears', 6)
    expect(page()).toBe(first)
    pages.changed('widgets', 7)
    expect(page()).not.toBe(first)
    expect(reads).toBe(2)
  })

  it('are told apart by namespace, limit and where they begin', () => {
    const after = { resource: 'widgets', namespace: 'a', name: 'b' }
    const asked = [
      () => page(),
      () => page({ limit: 41 }),
      () => page({ limit: 40 }, { ...scope, namespace: 'a' }),
      () => page({ limit: 40, after }),
      () => page({ limit: 40, after: { ...after, namespace: 'ab', name: '' } }),
      () => page({ limit: 40, after: { ...after, namespace: '', name: 'ab' } }),
    ]
    const found = asked.map(ask => ask())
    expect(new Set(found).size).toBe(asked.length)
    expect(asked.map(ask => ask())).toEqual(found)
    expect(reads).toBe(asked.length)
  })

  it('of several resources, or of one that nothing is known of, are not kept', () => {
    const both = inScope('', 'widgets', 'gears')
    expect(page({ limit: 40 }, both)).not.toBe(page({ limit: 40 }, both))
    const unknown = inScope('', 'cogs')
    expect(page({ limit: 40 }, unknown)).not.toBe(page({ limit: 40 }, unknown))
  })

  it('are forgotten when they are too many, and not kept when one is too large', () => {
    const first = page({ limit: 40_000 }, scope, 40_000)
    expect(page({ limit: 40_000 }, scope, 40_000)).toBe(first)
    page({ limit: 30_000 }, scope, 30_000)
    expect(page({ limit: 40_000 }, scope, 40_000)).not.toBe(first)
    expect(reads).toBe(3)
    page({ limit: 0 }, scope, 70_000)
    page({ limit: 0 }, scope, 70_000)
    expect(reads).toBe(5)
  })

  it('are not kept when they are short, or begin where nobody needs to', () => {
    expect(page({ limit: 40 }, scope, 31)).not.toBe(page({ limit: 40 }, scope, 31))
    const after = { resource: 'widgets', namespace: '', name: 'x'.repeat(1_100) }
    expect(page({ limit: 40, after })).not.toBe(page({ limit: 40, after }))
    expect(reads).toBe(4)
  })

  it('are the same as at a revision since which nothing of their scope has changed', () => {
    pages.changed('gears', 8)
    const both = inScope('', 'widgets', 'gears')
    expect([4, 5, 6].map(revision => pages.isSameSince(scope, revision))).toEqual([false, true, true])
    expect([7, 8].map(revision => pages.isSameSince(both, revision))).toEqual([false, true])
    expect(pages.isSameSince(inScope('', 'cogs'), 1)).toBe(true)
  })
})
