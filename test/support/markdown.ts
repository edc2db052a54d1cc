import { readFileSync } from 'node:fs'

export type Section = {
  readonly title: string
  /** With the text of sections below it. */
  readonly text: string
}

/** The sections of a page under headings of two or more `#`. */
export function sectionsOf(file: string): readonly Section[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  const heads = lines.flatMap((line, at) => {
    const [, marks, title] = /^(##+) (.*)$/.exec(line) ?? []
    return marks === undefined || title === undefined ? [] : [{ at, depth: marks.length, title }]
  })
  return heads.map(({ at, depth, title }, index) => {
    const next = heads.slice(index + 1).find(head => head.depth <= depth)
    return { title, text: lines.slice(at + 1, next?.at).join('\n') }
  })
}

/** The text of one section. Throws when there is none of that title. */
export function sectionText(file: string, title: string): string {
  const found = sectionsOf(file).find(section => section.title === title)
  if (found === undefined) throw new Error(`${file} has no section "${title}"`)
  return found.text
}

/** The rows of all tables in a text, without head and rule; cells are trimmed, `\|` is a bar. */
export function tableRows(text: string): readonly (readonly string[])[] {
  return text.split(/\n(?!\|)/).flatMap(block => {
    const rows = block.split('\n').filter(line => line.startsWith('|'))
    return rows.slice(2).map(cellsOf)
  })
}

function cellsOf(row: string): readonly string[] {
  return row
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim().replaceAll('\\|', '|'))
}

/** `` `a` `` → `a`. */
export function plain(cell: string): string {
  return cell.replace(/^`(.*)`$/, '$1')
}

/** Fenced blocks of one language. */
export function codeBlocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, name, block = '']) =>
    name === language ? [block] : [],
  )
}
