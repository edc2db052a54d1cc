import { expect, it } from 'vitest'
import { authorizersInTurn } from '../../../../apiservice/authz/chain-of-authorizers.ts'
import { authzStage } from '../../../../apiservice/authz/stage.ts'
import type {
  Authorizer,
  Decision,
  Reply,
  ServedKind,
  WatchEvent,
  WatchSink,
} from '../../../../apiservice/contract.ts'
import { ServiceExportKind } from '../../../../src/api/kinds/service-export.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { anApiRequest, aResourceInfo } from '../../../support/api-request.ts'
import { settled } from '../../../support/manual-clock.ts'

const served: ServedKind = { kind: ServiceExportKind, version: 'v1beta1' }
const bookmark: WatchEvent = { type: 'BOOKMARK', revision: 7, initialEventsEnd: false }

/** A watch through the stage: what the client sees, and both ends of it in the test's hand. */
async function openWatch() {
  const listeners = new Set<() => void>()
  let decide: () => Promise<Decision> = () => Promise.resolve({ allowed: 'allow', reason: '' })
  let asked = 0
  const authorizer: Authorizer = {
    authorize: () => {
      asked += 1
      return decide()
    },
    onChange: listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
  const source: { sink?: WatchSink; signal?: AbortSignal } = {}
  const watch: Reply = {
    type: 'watch',
    served,
    open: (sink, signal) => Object.assign(source, { sink, signal }),
  }
  const stage = authzStage(authorizersInTurn([authorizer]))
  const request = anApiRequest({ info: aResourceInfo({ verb: 'watch' }) })
  const reply = await stage(() => Promise.resolve(watch))(request, never)
  const seen: string[] = []
  const client = new AbortController()
  if (reply.type !== 'watch') throw new Error('not a watch')
  reply.open(
    {
      events: batch => {
        for (const event of batch)
          seen.push(event.type === 'ERROR' ? `ERROR ${event.status.code}` : event.type)
      },
      end: () => seen.push('end'),
    },
    client.signal,
  )
  await settled()
  const change = async (next: () => Promise<Decision>): Promise<void> => {
    decide = next
    for (const listener of [...listeners]) listener()
    await settled()
  }
  return { seen, source, client, listeners, change, asked: () => asked }
}

const allow = () => Promise.resolve<Decision>({ allowed: 'allow', reason: '' })
const refuse = () => Promise.resolve<Decision>({ allowed: 'noOpinion', reason: '' })

it('a watch goes on while it is allowed', async () => {
  const { seen, source, change, listeners } = await openWatch()
  await change(allow)
  source.sink?.events([bookmark])
  source.sink?.end()
  expect(seen).toEqual(['BOOKMARK', 'end'])
  expect(listeners.size).toBe(0)
})

it('a watch ends with 403 when it is no longer allowed', async () => {
  const { seen, source, change, listeners } = await openWatch()
  source.sink?.events([bookmark])
  await change(refuse)
  source.sink?.events([bookmark])
  source.sink?.end()
  expect(seen).toEqual(['BOOKMARK', 'ERROR 403', 'end'])
  expect(source.signal?.aborted).toBe(true)
  expect(listeners.size).toBe(0)
})

it('a watch ends when nobody can say whether it is still allowed', async () => {
  const { seen, change } = await openWatch()
  await change(() => Promise.reject(new Error('policy is broken')))
  expect(seen).toEqual(['ERROR 500', 'end'])
})

it('a watch that its client has left is not asked about again', async () => {
  const { seen, source, client, change, listeners, asked } = await openWatch()
  client.abort()
  const before = asked()
  await change(refuse)
  expect([seen, source.signal?.aborted, listeners.size, asked()]).toEqual([[], true, 0, before])
})

it('changes while a question is open lead to one more question', async () => {
  const { seen, change, asked } = await openWatch()
  const before = asked()
  let release: (decision: Decision) => void = () => undefined
  await change(() => new Promise(resolve => (release = resolve)))
  await change(refuse)
  await change(refuse)
  expect(asked()).toBe(before + 1)
  release({ allowed: 'allow', reason: '' })
  await settled()
  expect(asked()).toBe(before + 2)
  expect(seen).toEqual(['ERROR 403', 'end'])
})
