/** The Accept header (RFC 9110 §12.5.1). */

/** A media range of the header: `type` without parameters, parameter names in lower case. */
export type AcceptClause = { readonly type: string; readonly params: ReadonlyMap<string, string> }

/** More ranges than these are not looked at. */
const maxClauses = 64

/** The clauses by falling `q`, then in their order; those with `q=0` are left out. */
export function parseAccept(accept: string): readonly AcceptClause[] {
  return accept
    .split(',', maxClauses)
    .map(parseClause)
    .filter(clause => clause.type !== '' && qualityOf(clause) > 0)
    .sort((a, b) => qualityOf(b) - qualityOf(a))
}

function parseClause(text: string): AcceptClause {
  const [type = '', ...params] = text.split(';')
  return {
    type: type.trim().toLowerCase(),
    params: new Map(
      params.map(param => {
        const equals = param.indexOf('=')
        const name = equals < 0 ? param : param.slice(0, equals)
        return [name.trim().toLowerCase(), equals < 0 ? '' : param.slice(equals + 1).trim()]
      }),
    ),
  }
}

function qualityOf(clause: AcceptClause): number {
  const q = clause.params.get('q')
  if (q === undefined) return 1
  const quality = Number(q)
  return Number.isFinite(quality) ? quality : 1
}
