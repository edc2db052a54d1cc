// The little Markdown that generated pages are made of.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './kinds-index.ts'

/** A table; cells that are empty stay so, bars in them are escaped. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `|${cells.map(cell => ` ${cell.replaceAll('|', '\\|')} `.replace(/^ {2}$/, ' ')).join('|')}|`
  return `${[line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')}\n`
}

export function code(text: string): string {
  return text === '' ? '' : `\`${text}\``
}

/** The page as it is, with the text between `<!-- generated: name -->` and `<!-- end -->` replaced. */
export function withSection(file: string, name: string, text: string): string {
  const page = readFileSync(join(root, file), 'utf8')
  const start = `<!-- generated: ${name} -->\n`
  const from = page.indexOf(start)
  const to = page.indexOf('<!-- end -->', from)
  if (from < 0 || to < 0) throw new Error(`${file} has no section "${name}"`)
  return `${page.slice(0, from + start.length)}\n${text}\n${page.slice(to)}`
}
