// npm run image: the product's image as a file that docker, containerd and kind load, made without any of them.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import manifest from '../package.json' with { type: 'json' }
import { writeImageArchive } from './image/archive.ts'
import { makeProductRoot, productImage } from './image/product-root.ts'

const { values } = parseArgs({
  options: {
    name: { type: 'string', default: `isthmus.dev/isthmus:${manifest.version}` },
    output: { type: 'string', default: '.isthmus/image.tar' },
    /** Only the root filesystem, for the Containerfile. */
    root: { type: 'string' },
  },
})

async function run(argv: readonly string[]): Promise<string> {
  const [program = '', ...args] = argv
  const ran = spawnSync(program, args, { encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(`${argv.join(' ')} failed: ${ran.error?.message ?? ran.stderr}`)
  return ran.stdout
}

async function writeArchive(name: string, archive: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-image-'))
  try {
    const root = join(folder, 'root')
    await makeProductRoot(root, run)
    mkdirSync(dirname(archive), { recursive: true })
    const images = [{ ...productImage, names: [name], root }]
    await writeImageArchive({ archive, folder: join(folder, 'layout'), images, run })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const megabytes = Math.round(statSync(archive).size / 1e6)
  process.stdout.write(`${name}: ${archive} (${megabytes} MB)\n`)
}

process.chdir(resolve(import.meta.dirname, '..'))
if (values.root !== undefined) await makeProductRoot(values.root, run)
else await writeArchive(values.name, resolve(values.output))
