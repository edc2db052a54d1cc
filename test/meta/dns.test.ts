// The table of docs/dns.md, asked of a zone that is made of the objects above it.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { ImportObject, SliceObject } from '../../dns/source/facts.ts'
import { parseYaml } from '../../src/codec/yaml.ts'
import { fullName } from '../support/dns-text.ts'
import { askerOf, loadedZone } from '../support/dns-zone.ts'
import { codeBlocks, plain, sectionText, tableRows } from '../support/markdown.ts'

const page = 'docs/dns.md'
const [yaml = ''] = codeBlocks(readFileSync(page, 'utf8'), 'yaml')
const objects = yaml.split(/^---$/m).map(text => parseYaml(text).value)

function ofKind<O>(kind: string): readonly O[] {
  // Objects of this kind, as the page writes them: what is wrong with them shows in the answers.
  return objects.filter(object => Object(object).kind === kind) as readonly O[]
}

const asker = askerOf(
  loadedZone({
    imports: ofKind<ImportObject>('ServiceImport'),
    slices: ofKind<SliceObject>('EndpointSlice'),
  }),
)

/** As the page writes it. */
function answer(name: string, type: string): string {
  const reply = asker.ask(fullName(name), type)
  if (reply.answer.length === 0) return reply.status
  const datas = reply.answer.map(record => record.split(' ').slice(3).join(' '))
  return datas
    .map(data => data.replace('.svc.clusterset.local.', '').replace(/^\["(.*)"\]$/, '"$1"'))
    .map(data => `\`${data}\``)
    .sort((a, b) => (a < b ? -1 : 1))
    .join(', ')
}

describe('the documented answers', () => {
  const rows = tableRows(sectionText(page, 'Names and answers'))

  it('are many', () => {
    expect(objects).toHaveLength(5)
    expect(rows.length).toBeGreaterThan(20)
  })

  it.each(rows.map(([name = '', type = '', told = '']) => [plain(name), type, told] as const))(
    '%s %s %s',
    (name, type, told) => {
      expect(answer(name, type)).toBe(told)
    },
  )
})
