import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { UserInfo } from '../contract.ts'
import type { TokenLookup } from './bearer-token.ts'

/**
 * Tokens from a file as kube-apiserver's `--token-auth-file`: lines of `token,user,uid[,"group1,group2"]`. Throws an
 * Error that names the line when the text is not of that form.
 */
export function staticTokens(csv: string): TokenLookup {
  // Tokens are kept and compared as keyed digests: who can time the comparison learns nothing about a token.
  const key = randomBytes(32)
  const digest = (token: string): Buffer => createHmac('sha256', key).update(token).digest()
  const users = new Map<string, { readonly digest: Buffer; readonly user: UserInfo }>()
  for (const [index, line] of csv.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const { token, user } = entryOf(line, index + 1)
    const known = digest(token)
    if (users.has(known.toString('hex')))
      throw new Error(`token file, line ${index + 1}: the token is there twice`)
    users.set(known.toString('hex'), { digest: known, user })
  }
  return async token => {
    const presented = digest(token)
    const entry = users.get(presented.toString('hex'))
    return entry !== undefined && timingSafeEqual(entry.digest, presented) ? entry.user : undefined
  }
}

function entryOf(line: string, number: number): { readonly token: string; readonly user: UserInfo } {
  const fields = fieldsOf(line)
  if (fields === undefined) throw new Error(`token file, line ${number}: a quote is not closed`)
  const [token = '', name = '', uid, groups = ''] = fields
  if (uid === undefined)
    throw new Error(`token file, line ${number}: at least token, user and uid are needed`)
  if (token === '' || name === '')
    throw new Error(`token file, line ${number}: token and user must not be empty`)
  const names = groups.split(',').map(group => group.trim())
  return {
    token,
    user: {
      name,
      ...(uid === '' ? {} : { uid }),
      groups: names.filter(group => group !== ''),
      extra: {},
    },
  }
}

/** One line of CSV (RFC 4180): fields may be quoted, a quote in quotes is doubled. */
function fieldsOf(line: string): readonly string[] | undefined {
  const fields: string[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  while (field.lastIndex <= line.length) {
    const found = field.exec(line)
    if (found === null) return undefined
    fields.push(found[1]?.replaceAll('""', '"') ?? found[2]?.trim() ?? '')
    if (found[3] === '') return fields
  }
  return fields
}
