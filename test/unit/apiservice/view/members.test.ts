import { describe, expect, it, vi } from 'vitest'
import { followStore } from '../../../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../../../apiservice/store/memory-store.ts'
import type { ObjectKey, Store } from '../../../../apiservice/store-contract.ts'
import { ImportableView } from '../../../../apiservice/view/importable.ts'
import { followMembers } from '../../../../apiservice/view/members.ts'
import { encodeBody } from '../../../../src/codec/object-bytes.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const keyOf = (name: string): ObjectKey => ({
  resource: 'memberclusters.hub.isthmus.dev',
  namespace: '',
  name,
})

const bytes = (name: string, spec: object, status: object = {}): Buffer =>
  encodeBody({ apiVersion: '', kind: '', metadata: { name }, spec: { accepted: true, ...spec }, status })

const slice = {
  revision: 1,
  resource: 'exportedendpointslices.hub.isthmus.dev',
  namespace: 'member-east',
  name: 'x',
  body: encodeBody({ apiVersion: '', kind: '', metadata: { name: 'x' }, spec: { namespace: 'shop' } }),
}

async function setUp(fill: (store: Store) => Promise<unknown>) {
  const clock = manualClock()
  const store = await openMemoryStore({ clock, log: silentLogger, metrics: noMetrics })
  await fill(store)
  const view = new ImportableView()
  const stop = new AbortController()
  await followMembers(followStore(store, { clock, log: silentLogger }), view, stop.signal)
  return { store, view, close: () => store.close() }
}

describe('followMembers', () => {
  it('knows the members that are stored when it resolves, by the namespace that was recorded or follows from the id', async () => {
    const { close, view } = await setUp(async store => {
      await store.create(keyOf('east'), bytes('east', {}))
      await store.create(keyOf('west.example'), bytes('west.example', {}, { namespace: 'member-west-1' }))
    })
    expect(view.visible('member-west-1', slice)).toBe(true)
    expect(view.render('member-west-1', slice).body.toString()).toContain('"source":"east"')
    await close()
  })

  it('follows joining, changes and leaving', async () => {
    const { close, store, view } = await setUp(store => store.create(keyOf('east'), bytes('east', {})))
    const created = await store.create(keyOf('west'), bytes('west', {}))
    await settled()
    expect(view.visible('member-west', slice)).toBe(true)
    const first = created.done ? created.object.revision : 0
    const changed = await store.update(keyOf('west'), first, bytes('west', { namespaces: ['bank'] }))
    await settled()
    expect(view.visible('member-west', slice)).toBe(false)
    const second = changed.done ? changed.object.revision : 0
    const again = await store.update(keyOf('west'), second, bytes('west', {}))
    await settled()
    expect(view.visible('member-west', slice)).toBe(true)
    await store.delete(keyOf('west'), again.done ? again.object.revision : 0)
    await settled()
    expect(view.visible('member-west', slice)).toBe(false)
    await close()
  })

  it('asks nothing of the view when only a heartbeat was written down', async () => {
    const { close, store, view } = await setUp(store => store.create(keyOf('east'), bytes('east', {})))
    const set = vi.spyOn(view, 'setMembers')
    const { revision = 0 } = (await store.get(keyOf('east'))) ?? {}
    await store.update(
      keyOf('east'),
      revision,
      bytes('east', {}, { lastHeartbeatTime: '2026-01-02T03:04:05Z' }),
    )
    await settled()
    expect(set).not.toHaveBeenCalled()
    await store.create(keyOf('west'), bytes('west', {}))
    await settled()
    expect(set).toHaveBeenCalledOnce()
    await close()
  })

  it('knows since when each sees what it sees, which no heartbeat moves', async () => {
    const { close, store, view } = await setUp(store => store.create(keyOf('east'), bytes('east', {})))
    const joined = view.since('member-east')
    expect(joined).toBe(store.revision())
    await store.update(keyOf('east'), joined, bytes('east', {}, { clockSkewSeconds: 1 }))
    await settled()
    expect(view.since('member-east')).toBe(joined)
    const heard = store.revision()
    await store.update(keyOf('east'), heard, bytes('east', { namespaces: ['bank'] }))
    await settled()
    expect(view.since('member-east')).toBe(store.revision())
    await store.delete(keyOf('east'), store.revision())
    await settled()
    expect(view.since('member-east')).toBe(store.revision())
    await close()
  })
})
