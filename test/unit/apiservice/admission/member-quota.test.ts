import { beforeEach, describe, expect, it } from 'vitest'
import { memberQuota } from '../../../../apiservice/admission/member-quota.ts'
import type { AdmissionAttributes } from '../../../../apiservice/contract.ts'
import type { Follower, StoredObject, StoreEvent } from '../../../../apiservice/store-contract.ts'
import type { AnyKind } from '../../../../src/api/kind.ts'
import { ExportedEndpointSliceKind } from '../../../../src/api/kinds/exported-endpoint-slice.ts'
import { ExportedServiceKind } from '../../../../src/api/kinds/exported-service.ts'
import { LeaseKind } from '../../../../src/api/kinds/lease.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { isOverQuota } from '../../../../src/kernel/errors.ts'
import { anAdmission } from '../../../support/admission.ts'

const quota = memberQuota({ exports: 2, slices: 3, bytes: 1_000 })
let follower: Follower

beforeEach(async () => {
  await quota.start(async (_, given) => {
    follower = given
  }, never)
  follower.reset([])
})

const exportedServices = 'exportedservices.hub.isthmus.dev'
let revision = 0

function stored(
  name: string,
  { namespace = 'member-east', resource = exportedServices, bytes = 10 } = {},
): StoredObject {
  revision += 1
  return { revision, resource, namespace, name, body: Buffer.alloc(bytes) }
}

const put = (object: StoredObject, previous?: StoredObject): StoreEvent => ({ type: 'PUT', object, previous })
const gone = (object: StoredObject): StoreEvent => ({ type: 'DELETE', object, previous: object })

async function refusal(kind: AnyKind, given: Partial<AdmissionAttributes> = {}): Promise<unknown> {
  const served = { kind, version: 'v1alpha1' }
  const asked = anAdmission({ served, namespace: 'member-east', name: 'x', ...given })
  if (!quota.handles(asked)) return 'not asked'
  try {
    await quota.validate?.(asked, never)
    return undefined
  } catch (thrown) {
    return thrown
  }
}

describe('the quota of a member', () => {
  it('is told in the words of a ResourceQuota, and lets in again when something goes', async () => {
    const [one, two] = [stored('one'), stored('two')]
    follower.reset([one])
    expect(await refusal(ExportedServiceKind)).toBeUndefined()
    follower.events([put(two)])
    const refused = await refusal(ExportedServiceKind)
    expect(refused).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'exportedservices.hub.isthmus.dev "x" is forbidden: exceeded quota: member-exports, requested: count/exportedservices.hub.isthmus.dev=1, used: count/exportedservices.hub.isthmus.dev=2, limited: count/exportedservices.hub.isthmus.dev=2',
    })
    expect(isOverQuota(refused)).toBe(true)
    follower.events([gone(one)])
    expect(await refusal(ExportedServiceKind)).toBeUndefined()
  })

  it('is of one kind, one member, and what is new', async () => {
    follower.reset([stored('one'), stored('two'), stored('three', { namespace: 'other' })])
    expect(await refusal(ExportedEndpointSliceKind)).toBeUndefined()
    expect(await refusal(ExportedServiceKind, { namespace: 'member-west' })).toBeUndefined()
    expect(await refusal(ExportedServiceKind, { namespace: 'other' })).toBe('not asked')
    const { object } = anAdmission()
    expect(await refusal(ExportedServiceKind, { operation: 'UPDATE', oldObject: object })).toBeUndefined()
    expect(await refusal(ExportedServiceKind, { operation: 'DELETE' })).toBe('not asked')
    expect(await refusal(ExportedServiceKind, { subresource: 'status' })).toBe('not asked')
  })

  it('bounds the size of everything together, which may only shrink then, and never keeps a heartbeat out', async () => {
    const large = stored('large', { resource: 'exportedendpointslices.hub.isthmus.dev', bytes: 600 })
    follower.reset([large])
    expect(await refusal(ExportedServiceKind)).toBeUndefined()
    follower.events([put(stored('large', { resource: large.resource, bytes: 1_000 }), large)])
    const refused = await refusal(ExportedServiceKind)
    expect(String(refused)).toContain('exceeded quota: member-size, used: bytes=1000, limited: bytes=1000')
    const { object } = anAdmission()
    const larger = object && { ...object, more: 'x' }
    const update = { operation: 'UPDATE' as const, object: larger, oldObject: object }
    expect(isOverQuota(await refusal(ExportedEndpointSliceKind, update))).toBe(true)
    const shrink = { ...update, object, oldObject: larger }
    expect(await refusal(ExportedEndpointSliceKind, shrink)).toBeUndefined()
    expect(await refusal(LeaseKind, { name: 'heartbeat' })).toBe('not asked')
    expect(isOverQuota(await refusal(LeaseKind, { name: 'another' }))).toBe(true)
    // Counted anew when the history was lost.
    follower.reset([stored('small')])
    expect(await refusal(ExportedServiceKind)).toBeUndefined()
  })
})
