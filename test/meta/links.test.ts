// Every link of the documentation that points into the repository.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folders = ['docs', 'hack/adr']
const pages = [
  'README.md',
  ...folders.flatMap(folder =>
    readdirSync(folder)
      .filter(name => name.endsWith('.md'))
      .map(name => join(folder, name)),
  ),
]

type Link = { readonly path: string; readonly anchor: string | undefined; readonly whole: string }

function linksOf(file: string): readonly Link[] {
  const text = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, whole = '']) => {
    if (/^[a-z]+:/.test(whole)) return []
    const [path = '', anchor] = whole.split('#')
    return [{ path: path === '' ? file : join(dirname(file), path), anchor, whole }]
  })
}

/** As GitHub makes anchors of headings. */
function anchorsOf(file: string): ReadonlySet<string> {
  const text = readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
  const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title)
  return new Set(
    titles.map(title =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
}

describe('the links', () => {
  it.each(pages)('of %s lead somewhere', file => {
    const broken = linksOf(file).filter(({ path, anchor }) => {
      if (!existsSync(path)) return true
      return anchor !== undefined && !(statSync(path).isFile() && anchorsOf(path).has(anchor))
    })
    expect(broken.map(({ whole }) => whole)).toEqual([])
  })

  it('of the README lead to every page of the documentation', () => {
    const linked = new Set(linksOf('README.md').map(({ path }) => path))
    expect(pages.filter(page => page.startsWith('docs/') && !linked.has(page))).toEqual([])
  })
})
