/** Replies in one line, for tables of expected answers. */
import type { Shown } from './dns-message.ts'

/** `web.prod` for `web.prod.svc.clusterset.local.`; other names stay whole. */
function short(text: string): string {
  return text.replaceAll('.svc.clusterset.local.', '')
}

function datas(records: readonly string[], owner: boolean): string {
  return records
    .map(record => {
      const [name = '', , ...rest] = record.split(' ')
      return owner ? `${short(name)} ${short(rest.join(' '))}` : short(rest.join(' '))
    })
    .sort()
    .join(', ')
}

/** `NOERROR SRV 0 100 80 web.prod + web.prod A 10.42.0.10`: status, answer, additional section with owners. */
export function summary(reply: Shown): string {
  const parts = [reply.status]
  if (reply.answer.length > 0) parts.push(datas(reply.answer, false))
  if (reply.additional.length > 0) parts.push('+', datas(reply.additional, true))
  return parts.join(' ')
}

/** The table's short name as a whole one: what ends with a dot is whole already. */
export function fullName(name: string): string {
  return name.endsWith('.') ? name : `${name}.svc.clusterset.local.`
}
