import { describe, expect, it } from 'vitest'
import { GrpcError, grpcCode } from '../../../../../apiservice/store/etcd/grpc.ts'
import { EtcdLayout } from '../../../../../apiservice/store/etcd/layout.ts'
import { beginMarkers, completeMarkers } from '../../../../../apiservice/store/etcd/markers.ts'
import { txnRequest } from '../../../../../apiservice/store/etcd/messages.ts'
import { never } from '../../../../../src/kernel/abort.ts'
import { MemoryEtcd } from '../../../../support/memory-etcd.ts'

const layout = new EtcdLayout('/a')

function noAnswer(): never {
  throw new GrpcError(grpcCode.deadlineExceeded, 'no answer')
}

describe('the end of a restore', () => {
  it('is known when its answer was lost', async () => {
    const client = new MemoryEtcd()
    const marked = await beginMarkers({ client, layout, place: 'etcd://here/a' }, never)
    client.after.transact = noAnswer
    expect(await completeMarkers({ client, layout }, { marked, shift: 7 }, never)).toBe(marked + 1)
  })

  it('is not believed when it was not made', async () => {
    const client = new MemoryEtcd()
    const marked = await beginMarkers({ client, layout, place: 'etcd://here/a' }, never)
    client.before.transact = noAnswer
    await expect(completeMarkers({ client, layout }, { marked, shift: 7 }, never)).rejects.toThrow(
      'no answer',
    )
  })
})

describe('a condition on a range', () => {
  it('reads no more than one key of it when it is denied', () => {
    const { failure } = txnRequest({ conditions: [{ ...layout.all, revision: 0 }], operations: [] })
    expect(failure).toMatchObject([{ requestRange: { key: layout.all.key, limit: 1 } }])
  })
})
