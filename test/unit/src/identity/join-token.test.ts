import { describe, expect, it } from 'vitest'
import {
  formatJoinToken,
  newTokenSecret,
  parseJoinToken,
  secretSha256,
} from '../../../../src/identity/join-token.ts'

const hash = 'a'.repeat(64)
const secret = 's'.repeat(43)
const text = `isthmus://abcdefgh.${secret}.${hash}@127.0.0.1:7443,hub.example.com:443,[::1]:7443`

describe('a join token', () => {
  it('is one line that says all a new member needs', () => {
    const token = {
      id: 'abcdefgh',
      secret,
      authoritySha256: hash,
      servers: ['https://127.0.0.1:7443', 'https://hub.example.com:443', 'https://[::1]:7443'],
    }
    expect(formatJoinToken(token)).toBe(text)
    expect(parseJoinToken(`${text}\n`)).toEqual(token)
  })

  it('is new each time, and in the form that it is read in', () => {
    const [one, two] = [newTokenSecret(), newTokenSecret()]
    expect(one.secret).not.toBe(two.secret)
    const token = { ...one, authoritySha256: hash, servers: ['https://hub:7443'] }
    expect(parseJoinToken(formatJoinToken(token))).toEqual(token)
    expect(secretSha256(one.secret)).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each([
    '',
    'isthmus://',
    text.replace('isthmus', 'https'),
    text.replace(hash, 'a'.repeat(63)),
    text.replace(secret, 'short'),
    text.replace('abcdefgh', 'ABC'),
    `isthmus://abcdefgh.${secret}.${hash}@`,
    `isthmus://abcdefgh.${secret}.${hash}@hub:7443/path`,
    `isthmus://abcdefgh.${secret}.${hash}@hub:99999`,
    `isthmus://abcdefgh.${secret}.${hash}@user@hub:7443`,
    `isthmus://abcdefgh.${secret}.${hash}@${Array(17).fill('hub:1').join(',')}`,
    `${text}${'x'.repeat(5000)}`,
  ])('is not %j', wrong => expect(parseJoinToken(wrong)).toBeUndefined())
})
