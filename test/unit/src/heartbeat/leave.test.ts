import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MemberClusterKind } from '../../../../src/api/kinds/member-cluster.ts'
import { ServiceKind } from '../../../../src/api/kinds/service.ts'
import { refusalText } from '../../../../src/api/membership-refusal.ts'
import { wellKnown } from '../../../../src/api/well-known.ts'
import { refOf, resource } from '../../../../src/cluster/cluster.ts'
import { startInformer } from '../../../../src/cluster/informer.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { Writer } from '../../../../src/cluster/writer.ts'
import { leaveWhenAsked } from '../../../../src/heartbeat/leave.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { forbidden, unavailable } from '../../../../src/kernel/errors.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { WorkQueue } from '../../../../src/kernel/work-queue.ts'
import { memberService } from '../../../support/api-services.ts'
import { eventually } from '../../../support/eventually.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const services = resource(ServiceKind)
const members = resource(MemberClusterKind)

describe('a member', () => {
  const clock = manualClock()
  let running: AbortController
  let local: MemoryCluster
  let hub: MemoryCluster
  let refuse: () => void

  beforeEach(async () => {
    running = new AbortController()
    refuse = () => undefined
    local = new MemoryCluster({ name: 'east', clock })
    hub = new MemoryCluster({
      name: 'hub',
      clock,
      intercept: ({ verb }) => (verb === 'delete' || verb === 'get' ? refuse() : undefined),
    })
    for (const metadata of [memberService, { ...memberService, name: 'other' }])
      await local.create(services, { apiVersion: 'v1', kind: 'Service', metadata }, never)
    for (const name of ['east', 'west']) {
      const { apiVersion, kind } = members
      const spec = { accepted: true, credentialGeneration: 1 }
      await hub.create(members, { apiVersion, kind, metadata: { name }, spec }, never)
    }
    const { signal } = running
    const log = silentLogger
    leaveWhenAsked({
      cluster: 'east',
      hub,
      service: memberService,
      services: startInformer(local, services, { clock, log }, signal),
      localWriter: new Writer(local, noMetrics),
      log,
      queue: (name, _writer, reconcile) =>
        new WorkQueue({ name, clock, log }, (key, inner) => reconcile(refOf(key), inner), signal),
    })
  })
  afterEach(() => running.abort())

  const ask = (service = memberService): Promise<unknown> =>
    local.mergePatch(
      services,
      service,
      { metadata: { annotations: { [wellKnown.leave]: 'asked' } } },
      { signal: never },
    )
  const answered = (text: string): Promise<void> =>
    eventually(async () => {
      const { metadata } = await local.get(services, memberService, never)
      expect(metadata.annotations?.[wellKnown.leave]).toBe(text)
    })
  const known = async (): Promise<readonly string[]> =>
    (await hub.list(members, {}, never)).items.map(({ metadata }) => metadata.name)

  it('leaves when it is asked to at its own Service, and at no other', async () => {
    await ask({ ...memberService, name: 'other' })
    expect(await known()).toEqual(['east', 'west'])
    await ask()
    await answered('done')
    expect(await known()).toEqual(['west'])
    await ask()
    await answered('done')
  })

  it('has not left any more when it has joined again', async () => {
    await ask()
    await answered('done')
    const { apiVersion, kind } = members
    const spec = { accepted: true, credentialGeneration: 2 }
    await hub.create(members, { apiVersion, kind, metadata: { name: 'east' }, spec }, never)
    await local.mergePatch(
      services,
      memberService,
      { metadata: { labels: { started: 'anew' } } },
      { signal: never },
    )
    await eventually(async () => {
      const { metadata } = await local.get(services, memberService, never)
      expect(metadata.annotations?.[wellKnown.leave]).toBeUndefined()
    })
    expect(await known()).toEqual(['east', 'west'])
  })

  it('says why it has not, and tries again when it is asked again', async () => {
    refuse = () => {
      throw unavailable('the hub is away')
    }
    await ask()
    await answered('the hub is away')
    expect(await known()).toEqual(['east', 'west'])
    refuse = () => undefined
    await ask()
    await answered('done')
    expect(await known()).toEqual(['west'])
  })

  it('has left when the hub knows it no more', async () => {
    refuse = () => {
      throw forbidden(
        { group: members.group, resource: members.plural },
        'east',
        refusalText('not joined', 'east'),
      )
    }
    await ask()
    await answered('done')
  })
})
