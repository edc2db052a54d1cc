import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { type JoinTokenRecord, joinTokens } from '../../../../apiservice/authn/join-token.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const secret = 'Zm9vYmFyYmF6cXV4MDEyMzQ1'
const clock = manualClock()
const good: JoinTokenRecord = {
  secretSha256: createHash('sha256').update(secret).digest('hex'),
  expiresAtMs: clock.now() + 1000,
  usesLeft: 1,
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
  ['is used up', `abcdef.${secret}`, { usesLeft: 0 }],
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
