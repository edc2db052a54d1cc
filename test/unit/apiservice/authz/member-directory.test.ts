import { expect, it } from 'vitest'
import { MemberDirectory } from '../../../../apiservice/authz/member-directory.ts'
import { memberAuthorizer } from '../../../../apiservice/authz/member-rights.ts'
import { followStore } from '../../../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../../../apiservice/store/memory-store.ts'
import { encodeBody } from '../../../../src/codec/object-bytes.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { aResourceInfo } from '../../../support/api-request.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

async function world() {
  const clock = manualClock()
  const store = await openMemoryStore({ clock, log: silentLogger, metrics: noMetrics })
  const directory = new MemberDirectory(store)
  const keyOf = (name: string) => ({ resource: 'memberclusters.hub.isthmus.dev', namespace: '', name })
  const put = async (name: string, spec: object, more: object = {}): Promise<void> => {
    const old = await store.get(keyOf(name))
    const body = encodeBody({ apiVersion: '', kind: '', metadata: { name }, spec, ...more })
    await (old === undefined
      ? store.create(keyOf(name), body)
      : store.update(keyOf(name), old.revision, body))
    await settled()
  }
  const remove = async (name: string): Promise<void> => {
    await store.delete(keyOf(name), (await store.get(keyOf(name)))?.revision ?? 0)
    await settled()
  }
  const start = () => directory.start(followStore(store, { clock, log: silentLogger }), never)
  return { directory, put, remove, start }
}

const joined = { accepted: true, credentialGeneration: 1 }

it('stored members are known, each with its own namespace', async () => {
  const { directory, put, start } = await world()
  await put('east', joined)
  await put('west.example', { accepted: false, credentialGeneration: 7 })
  await start()
  expect(await directory.memberOf('east')).toEqual({
    accepted: true,
    generation: 1,
    namespace: 'member-east',
  })
  expect(await directory.memberOf('west.example')).toMatchObject({ accepted: false, generation: 7 })
  expect((await directory.memberOf('west.example'))?.namespace).toMatch(/^member-west-example-[0-9a-f]{8}$/)
  expect(await directory.memberOf('north')).toBeUndefined()
})

it('an evicted, revoked or removed member is out at once, and whoever listens is told; heartbeats tell nobody', async () => {
  const { directory, put, remove, start } = await world()
  await put('east', joined)
  await start()
  const authorizer = memberAuthorizer(directory)
  const user = {
    name: 'hub.isthmus.dev:member:east',
    groups: ['hub.isthmus.dev:members', 'hub.isthmus.dev:generation:1'],
    extra: {},
  }
  const info = aResourceInfo({ group: 'hub.isthmus.dev', resource: 'importables', namespace: 'member-east' })
  const allowed = async () => (await authorizer.authorize({ user, info }, never)).allowed
  let told = 0
  authorizer.onChange?.(() => {
    told += 1
  })
  await put('east', joined, { status: { lastHeartbeatTime: '2026-01-02T03:04:05Z' } })
  expect([await allowed(), told]).toEqual(['allow', 0])
  await put('east', { ...joined, accepted: false })
  expect([await allowed(), told]).toEqual(['deny', 1])
  await put('east', { ...joined, credentialGeneration: 2 })
  expect([await allowed(), told]).toEqual(['deny', 2])
  await put('east', joined)
  expect([await allowed(), told]).toEqual(['allow', 3])
  await put('east', joined, { metadata: { name: 'east', deletionTimestamp: '2026-01-02T03:04:05Z' } })
  expect([await allowed(), told]).toEqual(['deny', 4])
  await remove('east')
  expect([await allowed(), told]).toEqual(['deny', 5])
})
