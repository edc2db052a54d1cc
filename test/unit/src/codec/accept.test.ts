import { expect, it } from 'vitest'
import { parseAccept } from '../../../../src/codec/accept.ts'

const shown = (accept: string) =>
  parseAccept(accept).map(({ type, params }) => [type, ...[...params].map(([k, v]) => `${k}=${v}`)].join(';'))

it.each([
  ['application/json', ['application/json']],
  ['a/b;q=0.1, c/d, e/f;q=0.5', ['c/d', 'e/f;q=0.5', 'a/b;q=0.1']],
  ['a/b;q=0.5,c/d;q=0.5', ['a/b;q=0.5', 'c/d;q=0.5']],
  ['a/b;q=0,c/d', ['c/d']],
  ['A/B;Q=0.5;AS=Table', ['a/b;q=0.5;as=Table']],
  ['a/b ; v = 1 ;flag', ['a/b;v=1;flag=']],
  ['a/b;q=nonsense', ['a/b;q=nonsense']],
  [' , ,', []],
])('%j is read as %j', (accept, clauses) => {
  expect(shown(accept)).toEqual(clauses)
})

it('ranges beyond the 64th are not looked at', () => {
  expect(parseAccept('a/b,'.repeat(1000))).toHaveLength(64)
})
