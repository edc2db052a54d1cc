// The list of kinds, from the files of their folder. Imports no kind, so that it works when the list is broken.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..')
export const kindsIndexFile = 'src/api/kinds/index.ts'

/** Of the formatter. */
const lineWidth = 110

export function kindsIndex(): string {
  const files = readdirSync(join(root, 'src/api/kinds'))
    .filter(f => f.endsWith('.ts') && f !== 'index.ts')
    .map(f => f.replace(/\.ts$/, ''))
    .toSorted()
  const names = files.map(kindName)
  const line = `export const kinds: readonly AnyKind[] = [${names.join(', ')}]`
  const list =
    line.length <= lineWidth
      ? [line]
      : ['export const kinds: readonly AnyKind[] = [', ...names.map(n => `  ${n},`), ']']
  return [
    '// Written by `npm run gen` from the files of this folder.',
    `import type { AnyKind } from '../kind.ts'`,
    ...files.map(f => `import { ${kindName(f)} } from './${f}.ts'`),
    '',
    ...list,
    '',
  ].join('\n')
}

/** `service-export` declares `ServiceExportKind`. */
function kindName(file: string): string {
  const words = file.split('-')
  return `${words.map(w => w.charAt(0).toUpperCase() + w.slice(1)).join('')}Kind`
}
