import { expect, it } from 'vitest'
import { staticTokens } from '../../../../apiservice/authn/static-tokens.ts'
import { never } from '../../../../src/kernel/abort.ts'

it.each([
  ['t,ada,u-1', { name: 'ada', uid: 'u-1', groups: [], extra: {} }],
  ['t,ada,', { name: 'ada', groups: [], extra: {} }],
  ['t,ada,u-1,ops', { name: 'ada', uid: 'u-1', groups: ['ops'], extra: {} }],
  ['t,ada,u-1,"ops,dev"\r\n', { name: 'ada', uid: 'u-1', groups: ['ops', 'dev'], extra: {} }],
  ['\n"t","a ""b""",u-1,"ops",more', { name: 'a "b"', uid: 'u-1', groups: ['ops'], extra: {} }],
])('the token file %j is read', async (csv, user) => {
  expect(await staticTokens(csv)('t', never)).toEqual(user)
})

it.each([
  ['t,ada', 'line 1: at least token, user and uid are needed'],
  ['a,b,c\n,ada,u-1', 'line 2: token and user must not be empty'],
  ['a,b,c\n\nt,,u-1', 'line 3: token and user must not be empty'],
  ['t,ada,u-1,"ops', 'line 1: a quote is not closed'],
  ['t,ad"a,u-1', 'line 1: a quote is not closed'],
  ['t,ada,u-1\nt,bob,u-2', 'line 2: the token is there twice'],
])('the token file %j is refused', (csv, message) => {
  expect(() => staticTokens(csv)).toThrow(message)
})

it('a long line without an end is refused quickly', () => {
  expect(() => staticTokens(`t,ada,u-1,"${'""'.repeat(200_000)}`)).toThrow('a quote is not closed')
})
