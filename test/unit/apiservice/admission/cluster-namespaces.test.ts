import { expect, it } from 'vitest'
import { clusterNamespaces } from '../../../../apiservice/admission/cluster-namespaces.ts'
import type { Namespace } from '../../../../src/api/kinds/namespace.ts'
import type { Cluster } from '../../../../src/cluster/cluster.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { notFound, unavailable } from '../../../../src/kernel/errors.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const namespace = (name: string, more: Partial<Namespace['metadata']> = {}): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, ...more },
})

function world(live: (name: string) => unknown = name => missing(name)) {
  const clock = manualClock()
  const told = new Map<string, Namespace>()
  const asked: string[] = []
  const cluster = {
    get: async (_resource: unknown, { name }: { name: string }) => {
      asked.push(name)
      return live(name)
    },
  } as Pick<Cluster, 'get'>
  const lookup = clusterNamespaces({ cluster, clock, informer: { get: ({ name }) => told.get(name) } })
  const find = async (name: string): Promise<string | undefined> => {
    const found = Promise.resolve(lookup.find(name, never))
    found.catch(() => undefined)
    await clock.advance(50)
    return found
  }
  return { clock, told, asked, lookup, find }
}

function missing(name: string): never {
  throw notFound({ group: '', resource: 'namespaces' }, name)
}

it('what the informer knows is not asked for', async () => {
  const { asked, find, told } = world()
  told.set('shop', namespace('shop'))
  told.set('old', namespace('old', { deletionTimestamp: '2026-01-01T00:00:00Z' }))
  expect(await find('shop')).toBe('active')
  expect(await find('old')).toBe('terminating')
  expect(asked).toEqual([])
})

it('a namespace that was made just now is waited for', async () => {
  const { asked, clock, lookup, told } = world()
  const found = lookup.find('new', never)
  told.set('new', namespace('new'))
  await clock.advance(50)
  expect(await found).toBe('active')
  expect(asked).toEqual([])
})

it('one that the informer never heard of is asked for', async () => {
  const { asked, find } = world(name => namespace(name))
  expect(await find('new')).toBe('active')
  expect(asked).toEqual(['new'])
})

it('one that nobody knows is not there', async () => {
  expect(await world().find('nowhere')).toBeUndefined()
})

it('one that cannot be asked for is not taken for missing', async () => {
  const { find } = world(() => {
    throw unavailable('away')
  })
  await expect(find('new')).rejects.toMatchObject({ code: 503 })
})
