// npm run gen: writes what is derived from the kinds. `node hack/gen.ts check` writes nothing and fails when it would.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const kindsFolder = 'src/api/kinds'
/** Of the formatter. */
const lineWidth = 110

/** `service-export` declares `ServiceExportKind`. */
function kindName(file: string): string {
  const words = file.split('-')
  return `${words.map(w => w.charAt(0).toUpperCase() + w.slice(1)).join('')}Kind`
}

function kindsIndex(): string {
  const files = readdirSync(join(root, kindsFolder))
    .filter(f => f.endsWith('.ts') && f !== 'index.ts')
    .map(f => f.replace(/\.ts$/, ''))
    .toSorted()
  const imports = files.map(f => `import { ${kindName(f)} } from './${f}.ts'`)
  const names = files.map(kindName)
  const line = `export const kinds: readonly AnyKind[] = [${names.join(', ')}]`
  const list =
    line.length <= lineWidth
      ? [line]
      : ['export const kinds: readonly AnyKind[] = [', ...names.map(n => `  ${n},`), ']']
  return [
    '// Written by `npm run gen` from the files of this folder.',
    `import type { AnyKind } from '../kind.ts'`,
    ...imports,
    '',
    ...list,
    '',
  ].join('\n')
}

const generated: Readonly<Record<string, string>> = {
  [`${kindsFolder}/index.ts`]: kindsIndex(),
}

const stale = Object.entries(generated).filter(([file, text]) => read(file) !== text)
if (process.argv[2] !== 'check') for (const [file, text] of stale) writeFileSync(join(root, file), text)
else if (stale.length > 0) {
  process.stderr.write(`out of date, run npm run gen: ${stale.map(([file]) => file).join(', ')}\n`)
  process.exit(1)
}

function read(file: string): string | undefined {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch {
    // Not written yet.
    return undefined
  }
}
