import { beforeEach, describe, expect, it } from 'vitest'
import type { Cluster, Informer, Ref } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { Writer } from '../../../../src/cluster/writer.ts'
import type { Collected } from '../../../../src/export/collect.ts'
import type { PushFailure } from '../../../../src/export/conditions.ts'
import { Kept } from '../../../../src/export/kept.ts'
import { ServicePush } from '../../../../src/export/service-push.ts'
import { SlicePush } from '../../../../src/export/slice-push.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { alreadyExists, invalid, type StatusError } from '../../../../src/kernel/errors.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { slice } from '../../../support/shop.ts'

const what = { group: 'hub.isthmus.dev', kind: 'ExportedThing', plural: 'exportedthings' }
const refused = invalid(what, 'x', [])
const conflict = alreadyExists({ group: what.group, resource: what.plural }, 'x')
const web: Ref = { namespace: 'shop', name: 'web' }

/** Knows one object, or none. */
function informerOf<O>(object?: O): Informer<O> {
  return {
    synced: Promise.resolve(),
    hasSynced: () => true,
    get: () => object,
    list: () => (object === undefined ? [] : [object]),
    onChange: () => undefined,
    note: () => undefined,
  }
}

describe('what is pushed to the hub and refused', () => {
  let failure: StatusError | undefined
  let hub: Cluster
  let outcomes: (PushFailure | undefined)[]
  beforeEach(() => {
    failure = undefined
    outcomes = []
    hub = new MemoryCluster({
      name: 'hub',
      clock: manualClock(),
      intercept: () => {
        if (failure !== undefined) throw failure
      },
    })
  })

  const pushes = {
    slice: () => {
      const push = new SlicePush({
        exported: () => ({}),
        endpointSlices: informerOf(slice('web-abc', ['10.1.0.1'])),
        exportedSlices: informerOf(),
        hub: new Writer(hub, noMetrics),
        hubNamespace: 'member-east',
        outcome: (_slice, _service, told) => outcomes.push(told),
      })
      return () => push.reconcile({ namespace: 'shop', name: 'web-abc' }, undefined, never)
    },
    export: () => {
      const spec = { namespace: 'shop', service: 'web', type: 'ClusterSetIP', ports: [] } as const
      const push = new ServicePush({
        // Only what is sent of it counts here.
        collected: () => ({ valid: true, spec, dropped: [] }) as unknown as Collected,
        exportedServices: informerOf(),
        hub: new Writer(hub, noMetrics),
        hubNamespace: 'member-east',
        kept: new Kept(() => undefined),
        outcome: (_ref, told) => outcomes.push(told),
      })
      return () => push.reconcile(web, undefined, never)
    },
  }

  it.each(['slice', 'export'] as const)('is not well for having met something newer: %s', async kind => {
    const push = pushes[kind]()
    failure = refused
    await expect(push()).rejects.toBe(refused)
    failure = conflict
    expect(await push()).toBe('behind')
    expect(outcomes).toEqual([{ refused: true, message: expect.any(String) }])
    failure = undefined
    expect(await push()).toBe('written')
    expect(outcomes.at(-1)).toBeUndefined()
    expect(outcomes).toHaveLength(2)
  })
})
