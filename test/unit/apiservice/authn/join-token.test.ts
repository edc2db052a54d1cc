import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import {
  type JoinTokenRecord,
  joinTokens,
  storedJoinTokens,
} from '../../../../apiservice/authn/join-token.ts'
import { openMemoryStore } from '../../../../apiservice/store/memory-store.ts'
import { encodeBody } from '../../../../src/codec/object-bytes.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const secret = 'Zm9vYmFyYmF6cXV4MDEyMzQ1'
const clock = manualClock()
const good: JoinTokenRecord = {
  secretSha256: createHash('sha256').update(secret).digest('hex'),
  expiresAtMs: clock.now() + 1000,
}

function lookup(record: Partial<JoinTokenRecord> = {}) {
  const asked: string[] = []
  const find = async (id: string) => {
    asked.push(id)
    return id === 'abcdef' ? { ...good, ...record } : undefined
  }
  return { asked, find: joinTokens({ clock, find }) }
}

it('a join token makes a joiner', async () => {
  expect(await lookup().find(`abcdef.${secret}`, never)).toEqual({
    name: 'hub.isthmus.dev:joiner:abcdef',
    groups: ['hub.isthmus.dev:joiners'],
    extra: {},
  })
})

it.each<[string, string, Partial<JoinTokenRecord>]>([
  ['has another secret', `abcdef.${secret.toLowerCase()}`, {}],
  ['is not known', `abcdeg.${secret}`, {}],
  ['has expired', `abcdef.${secret}`, { expiresAtMs: clock.now() }],
  ['never said when it expires', `abcdef.${secret}`, { expiresAtMs: Number.NaN }],
  ['is kept with half a digest', `abcdef.${secret}`, { secretSha256: good.secretSha256.slice(32) }],
  ['is kept without a digest', `abcdef.${secret}`, { secretSha256: '' }],
])('a join token that %s is no good', async (_, token, record) => {
  expect(await lookup(record).find(token, never)).toBeUndefined()
})

it.each(['abcdef', `.${secret}`, 'abcdef.short', `../x.${secret}`, `abcdef.${secret}.x`, `ABCDEF.${secret}`])(
  'the token %j is of another kind and is not looked up',
  async token => {
    const { asked, find } = lookup()
    expect(await find(token, never)).toBeUndefined()
    expect(asked).toEqual([])
  },
)

it('a token that cannot be looked up is not called bad', async () => {
  const find = joinTokens({ clock, find: () => Promise.reject(unavailable('store is closed')) })
  await expect(find(`abcdef.${secret}`, never)).rejects.toMatchObject({ code: 503 })
})

it('stored tokens are found by their ids', async () => {
  const store = await openMemoryStore({ clock, log: silentLogger, metrics: noMetrics })
  const token = {
    apiVersion: 'hub.isthmus.dev/v1alpha1',
    kind: 'JoinToken',
    metadata: { name: 'abcdef' },
    spec: { secretSHA256: good.secretSha256, expirationTime: '2026-01-02T03:04:06Z' },
  }
  await store.create(
    { resource: 'jointokens.hub.isthmus.dev', namespace: '', name: 'abcdef' },
    encodeBody(token),
  )
  const find = storedJoinTokens(store)
  expect(await find('abcdef', never)).toEqual(good)
  expect(await find('abcdeg', never)).toBeUndefined()
  await store.close()
})
