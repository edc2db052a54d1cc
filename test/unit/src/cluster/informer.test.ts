import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../../src/api/meta.ts'
import type { Change, Resource } from '../../../../src/cluster/cluster.ts'
import { type InformerSource, startInformer } from '../../../../src/cluster/informer.ts'
import { MemoryCluster, type MemoryRequest } from '../../../../src/cluster/memory.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { forbidden, unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const configMaps: Resource = {
  group: '',
  version: 'v1',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
}
const shop = (name: string): { namespace: string; name: string } => ({ namespace: 'shop', name })

function aConfigMap(name: string, value = '1'): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: shop(name), data: { value } }
}

/** One change as `+a`, `~a` or `-a`. */
function sign({ before, after }: Change<KubeObject>): string {
  const name = (after ?? before)?.metadata.name ?? ''
  if (before === undefined) return `+${name}`
  return after === undefined ? `-${name}` : `~${name}`
}

function setup(intercept: (request: MemoryRequest) => void = () => undefined) {
  const clock = manualClock()
  const log = memoryLogger()
  const stop = new AbortController()
  const cluster = new MemoryCluster({ name: 'east', clock, intercept })
  const informer = startInformer(cluster, configMaps, { clock, log, random: () => 1 }, stop.signal)
  const changes: string[] = []
  informer.onChange(change => changes.push(sign(change)))
  return { clock, log, stop, cluster, informer, changes }
}

/** An informer whose watch tells of changes only when it is let. */
async function behind() {
  const clock = manualClock()
  const cluster = new MemoryCluster({ name: 'east', clock })
  let release = (): void => undefined
  const gate = { held: Promise.resolve() }
  const source: InformerSource = {
    name: 'east',
    list: (...args) => cluster.list(...args),
    async *watch(...args) {
      for await (const event of cluster.watch(...args)) {
        await gate.held
        yield event
      }
    },
  }
  const informer = startInformer(source, configMaps, { clock, log: memoryLogger() }, never)
  const changes: string[] = []
  informer.onChange(change => changes.push(sign(change)))
  await informer.synced
  await settled()
  return {
    cluster,
    informer,
    changes,
    hold: (): void => {
      gate.held = new Promise(resolve => {
        release = resolve
      })
    },
    release: async (): Promise<void> => {
      release()
      await settled()
    },
  }
}

describe('an informer that is told of writes', () => {
  it('has them at once, and tells of each once', async () => {
    const { changes, cluster, hold, informer, release } = await behind()
    hold()
    informer.note(await cluster.create(configMaps, aConfigMap('a'), never))
    const patch = { data: { value: '2' } }
    informer.note(await cluster.mergePatch(configMaps, shop('a'), patch, { signal: never }))
    expect(informer.get(shop('a'))).toMatchObject({ data: { value: '2' } })
    expect(changes).toEqual(['+a', '~a'])
    await cluster.create(configMaps, aConfigMap('b'), never)
    await release()
    expect(changes).toEqual(['+a', '~a', '+b'])
  })

  it('does not take the end of an object for that of the one that came after it', async () => {
    const { changes, cluster, hold, informer, release } = await behind()
    await cluster.create(configMaps, aConfigMap('a'), never)
    await settled()
    hold()
    await cluster.delete(configMaps, shop('a'), { signal: never })
    informer.note(await cluster.create(configMaps, aConfigMap('a', '2'), never))
    await release()
    expect(changes).toEqual(['+a', '-a', '+a'])
    expect(informer.get(shop('a'))).toMatchObject({ data: { value: '2' } })
  })

  it('does not bring back what the watch has said to be gone, nor what it was before', async () => {
    const { changes, cluster, informer } = await behind()
    const created = await cluster.create(configMaps, aConfigMap('a'), never)
    await settled()
    await cluster.delete(configMaps, shop('a'), { signal: never })
    await settled()
    informer.note(created)
    const first = await cluster.create(configMaps, aConfigMap('b'), never)
    await cluster.mergePatch(configMaps, shop('b'), { data: { value: '2' } }, { signal: never })
    await settled()
    informer.note(first)
    expect(changes).toEqual(['+a', '-a', '+b', '~b'])
    expect(informer.get(shop('b'))).toMatchObject({ data: { value: '2' } })
  })
})

describe('an informer', () => {
  it('keeps no managers of fields', async () => {
    const { cluster, informer } = setup()
    const managedFields = [{ manager: 'kubectl', operation: 'Apply' as const }]
    const managed = (name: string): KubeObject => {
      const object = aConfigMap(name)
      return { ...object, metadata: { ...object.metadata, labels: { a: '1' }, managedFields } }
    }
    const told: (KubeObject | undefined)[] = []
    informer.onChange(({ after }) => told.push(after))
    await cluster.create(configMaps, managed('listed'), never)
    await informer.synced
    await cluster.create(configMaps, managed('watched'), never)
    await settled()
    expect((await cluster.get(configMaps, shop('listed'), never)).metadata.managedFields).toEqual(
      managedFields,
    )
    for (const object of [...informer.list(), ...told]) {
      expect(object?.metadata).toMatchObject({ labels: { a: '1' }, resourceVersion: expect.any(String) })
      expect(object?.metadata).not.toHaveProperty('managedFields')
    }
    expect(told).toHaveLength(2)
  })

  it('holds what was there and follows what changes', async () => {
    const { cluster, informer, changes } = setup()
    await cluster.create(configMaps, aConfigMap('a'), never)
    await informer.synced
    expect(informer.hasSynced()).toBe(true)
    await cluster.create(configMaps, aConfigMap('b'), never)
    await cluster.mergePatch(configMaps, shop('a'), { data: { value: '2' } }, { signal: never })
    await cluster.delete(configMaps, shop('b'), { signal: never })
    await settled()
    expect(changes).toEqual(['+a', '+b', '~a', '-b'])
    expect(informer.get(shop('a'))).toMatchObject({ data: { value: '2' } })
    expect(informer.get(shop('b'))).toBeUndefined()
    expect(informer.list()).toHaveLength(1)
    expect(informer.list('shop')).toHaveLength(1)
    expect(informer.list('other')).toEqual([])
  })

  it('tells a late listener of everything that is there as creations, in a later turn', async () => {
    const { cluster, informer } = setup()
    await cluster.create(configMaps, aConfigMap('a'), never)
    await informer.synced
    const late: string[] = []
    informer.onChange(change => late.push(sign(change)))
    expect(late).toEqual([])
    await settled()
    expect(late).toEqual(['+a'])
    await cluster.delete(configMaps, shop('a'), { signal: never })
    await settled()
    expect(late).toEqual(['+a', '-a'])
  })

  it('goes on from a bookmark when the watch ends', async () => {
    const { cluster, clock, informer, changes } = setup()
    await informer.synced
    await settled()
    await cluster.create({ ...configMaps, plural: 'secrets' }, aConfigMap('s'), never)
    cluster.bookmark()
    await settled()
    cluster.compact()
    cluster.endWatches()
    await cluster.create(configMaps, aConfigMap('a'), never)
    await clock.advance(1000)
    expect(changes).toEqual(['+a'])
  })

  it('lists again when its revision is no longer kept, and tells the difference', async () => {
    const server: { away: boolean } = { away: false }
    const { cluster, clock, informer, changes } = setup(request => {
      if (request.verb === 'watch' && server.away) throw unavailable('away')
    })
    await cluster.create(configMaps, aConfigMap('kept'), never)
    await cluster.create(configMaps, aConfigMap('changed'), never)
    await cluster.create(configMaps, aConfigMap('gone'), never)
    await cluster.create(configMaps, aConfigMap('again'), never)
    await informer.synced
    await settled()
    changes.length = 0
    server.away = true
    cluster.endWatches()
    await settled()
    await cluster.mergePatch(configMaps, shop('changed'), { data: { value: '2' } }, { signal: never })
    await cluster.delete(configMaps, shop('gone'), { signal: never })
    await cluster.delete(configMaps, shop('again'), { signal: never })
    await cluster.create(configMaps, aConfigMap('again'), never)
    await cluster.create(configMaps, aConfigMap('new'), never)
    cluster.compact()
    server.away = false
    await clock.advance(1000)
    expect(changes).toEqual(['-gone', '-again', '+again', '~changed', '+new'])
  })

  it.each([
    ['', 0, [] as readonly string[]],
    [' that has come as far again', 10, []],
    [' that has come as far again without the newest object', 10, ['c']],
  ])(
    'lists again when the server comes back with an earlier state%s, and takes nothing for known',
    async (_, more, gone) => {
      const clock = manualClock()
      const log = memoryLogger()
      const servers = ['before', 'restored'].map(name => new MemoryCluster({ name, clock }))
      const [before, restored] = servers
      if (before === undefined || restored === undefined) throw new Error('two servers')
      for (const name of ['a', 'c'].filter(each => !gone.includes(each))) {
        await restored.create(configMaps, aConfigMap(name, 'restored'), never)
      }
      for (let n = 0; n < more; n++) {
        const other = await restored.create(configMaps, aConfigMap('other'), never)
        await restored.delete(configMaps, other.metadata, { signal: never })
      }
      for (const name of ['a', 'b', 'b2', 'c']) await before.create(configMaps, aConfigMap(name), never)
      const at: { server: MemoryCluster; away: boolean } = { server: before, away: false }
      const reached = (): MemoryCluster => {
        if (at.away) throw unavailable('away')
        return at.server
      }
      const source: InformerSource = {
        name: 'hub',
        list: async (...args) => reached().list(...args),
        async *watch(...args) {
          yield* reached().watch(...args)
        },
      }
      const informer = startInformer(source, configMaps, { clock, log, random: () => 1 }, never)
      const changes: string[] = []
      informer.onChange(change => changes.push(sign(change)))
      await informer.synced
      await settled()
      at.away = true
      before.endWatches()
      await settled()
      changes.length = 0
      at.server = restored
      at.away = false
      await clock.advance(1_000)
      const kept = ['a', 'c'].filter(each => !gone.includes(each))
      expect(changes.toSorted((a, b) => (a < b ? -1 : 1))).toEqual([
        ...kept.map(each => `+${each}`),
        ...['-a', '-b', '-b2', '-c'],
      ])
      expect(informer.list()).toMatchObject(kept.map(() => ({ data: { value: 'restored' } })))
      await restored.create(configMaps, aConfigMap('d'), never)
      await settled()
      expect(changes.at(-1)).toBe('+d')
    },
  )

  it('tries again after a growing delay while the server is away', async () => {
    const server: { down: boolean } = { down: true }
    let tries = 0
    const { cluster, clock, informer, log } = setup(request => {
      if (request.verb !== 'list') return
      tries += 1
      if (server.down) throw unavailable('connection refused')
    })
    await settled()
    expect(tries).toBe(1)
    await clock.advance(100)
    expect(tries).toBe(2)
    await clock.advance(100)
    expect(tries).toBe(2)
    await clock.advance(100)
    expect(tries).toBe(3)
    await clock.advance(60_000)
    expect(tries).toBeLessThan(14)
    expect(informer.hasSynced()).toBe(false)
    server.down = false
    await clock.advance(15_000)
    await informer.synced
    expect(cluster.watches).toBe(1)
    expect(log.lines[0]).toMatchObject({ level: 'warn', fields: { cluster: 'east', resource: 'configmaps' } })
  })

  it('keeps what it has while a watch is refused, and lists again', async () => {
    const server: { refuses: boolean } = { refuses: false }
    const { cluster, clock, informer, changes } = setup(request => {
      if (server.refuses && request.verb === 'watch') {
        throw forbidden({ group: '', resource: 'configmaps' }, '', 'not now')
      }
    })
    await cluster.create(configMaps, aConfigMap('a'), never)
    await informer.synced
    await settled()
    server.refuses = true
    cluster.endWatches()
    await clock.advance(200)
    await cluster.create(configMaps, aConfigMap('b'), never)
    await clock.advance(5000)
    expect(changes).toEqual(['+a', '+b'])
    expect(informer.list()).toHaveLength(2)
  })

  it('does not ask in a loop when the server ends each watch at once', async () => {
    let watches = 0
    const { cluster, clock, informer } = setup(request => {
      if (request.verb !== 'watch') return
      watches += 1
      setImmediate(() => cluster.endWatches())
    })
    await informer.synced
    await clock.advance(10_000)
    expect(watches).toBeGreaterThan(3)
    expect(watches).toBeLessThan(12)
  })

  it('keeps going when a listener throws', async () => {
    const { cluster, informer, changes, log } = setup()
    informer.onChange(() => {
      throw new Error('listener is broken')
    })
    await informer.synced
    await settled()
    await cluster.create(configMaps, aConfigMap('a'), never)
    await settled()
    informer.onChange(change => changes.push(`late ${sign(change)}`))
    await settled()
    expect(changes).toEqual(['+a', 'late +a'])
    expect(log.lines).toMatchObject([{ level: 'error', fields: { error: 'listener is broken' } }])
  })

  it('rejects synced when it is stopped before the first list, and stops asking', async () => {
    const { clock, stop, informer, cluster } = setup(request => {
      if (request.verb === 'list') throw unavailable('down')
    })
    await settled()
    stop.abort(new Error('shutting down'))
    await expect(informer.synced).rejects.toThrow('shutting down')
    await clock.advance(60_000)
    expect(cluster.watches).toBe(0)
    expect(clock.pending).toBe(0)
  })
})
