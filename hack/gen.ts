// npm run gen: writes what is derived from the kinds and the commands. A test compares it with what is committed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { kindsIndex, kindsIndexFile, root } from './kinds-index.ts'

const listed = write(kindsIndexFile, kindsIndex())
// The kinds that this process imports are those of the old list.
if (listed && process.argv[2] !== 'again') {
  const ran = spawnSync(process.execPath, [import.meta.filename, 'again'], { stdio: 'inherit' })
  process.exit(ran.status ?? 1)
}

const { generatedFiles } = await import('./generated.ts')
for (const [file, text] of Object.entries(generatedFiles())) write(file, text)

/** Whether the file was another before. */
function write(file: string, text: string): boolean {
  const path = join(root, file)
  if (read(path) === text) return false
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  process.stdout.write(`gen: ${file}\n`)
  return true
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Not written yet.
    return undefined
  }
}
