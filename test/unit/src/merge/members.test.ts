import { expect, it } from 'vitest'
import type { MemberCluster } from '../../../../src/api/kinds/member-cluster.ts'
import { startInformer } from '../../../../src/cluster/informer.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { Members } from '../../../../src/merge/members.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'
import { memberClusters } from '../../../support/memory-fleet.ts'

it('members are told of when what they may do changes, and not when they were heard of', async () => {
  const clock = manualClock()
  const hub = new MemoryCluster({ name: 'hub', clock })
  const stop = new AbortController()
  const informer = startInformer(hub, memberClusters, { clock, log: silentLogger }, stop.signal)
  const members = new Members(informer)
  const told: string[] = []
  members.onChange(namespace => told.push(namespace))
  const { apiVersion, kind } = memberClusters
  const spec = { accepted: true, credentialGeneration: 1 }
  const created = await hub.create(
    memberClusters,
    { apiVersion, kind, metadata: { name: 'east' }, spec },
    never,
  )
  await settled()
  const before = members.list()
  expect([told, before]).toMatchObject([['member-east'], [{ cluster: 'east', accepted: true }]])

  const status = { lastHeartbeatTime: '2026-01-02T03:04:05Z', clockSkewSeconds: 3 }
  const heard = await hub.replace<MemberCluster>(
    memberClusters,
    { ...created, status },
    { subresource: 'status' },
    never,
  )
  await settled()
  expect(told).toHaveLength(1)
  expect(members.list()).toBe(before)

  await hub.replace(memberClusters, { ...heard, spec: { ...spec, accepted: false } }, {}, never)
  await settled()
  expect([told, members.list()]).toMatchObject([['member-east', 'member-east'], [{ accepted: false }]])
  stop.abort()
})
