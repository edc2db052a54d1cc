// The root filesystem of the product's image: Node with its libraries, the sources, and the packages that they need.
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Image, RunProgram } from './archive.ts'
import { copyLibraries } from './libraries.ts'

const user = 65_532
const program = '/usr/local/bin/isthmus'
const place = '/opt/isthmus'
const sources = ['package.json', 'src', 'apiservice', 'dns']

/** What its containers run, and as whom; the Containerfile says the same. */
export const productImage: Omit<Image, 'root' | 'names'> = {
  entrypoint: [program],
  command: ['--help'],
  user: `${user}:${user}`,
  environment: ['NODE_ENV=production'],
}

/** Fills the folder, which must not be there yet. `run` is for programs of this machine. */
export async function makeProductRoot(root: string, run: RunProgram): Promise<void> {
  for (const folder of ['etc', 'proc', 'sys', 'dev', 'tmp', 'usr/local/bin', 'var/lib/isthmus']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  const node = join(root, 'usr/local/bin/node')
  cpSync(process.execPath, node, { dereference: true })
  await copyLibraries(node, root, run)
  for (const source of sources) cpSync(source, join(root, place, source), { recursive: true })
  for (const each of productPackages()) copyPackage(each, join(root, place, each))
  for (const addon of addons(join(root, place, 'node_modules'))) await copyLibraries(addon, root, run)
  writeFileSync(join(root, program), `#!/usr/local/bin/node\nawait import('${place}/src/main.ts')\n`)
  chmodSync(join(root, program), 0o755)
  writeFileSync(join(root, 'etc/passwd'), `root:x:0:0::/:/none\nisthmus:x:${user}:${user}::/:/none\n`)
  writeFileSync(join(root, 'etc/group'), `root:x:0:\nisthmus:x:${user}:\n`)
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n')
}

type Locked = { readonly dev?: boolean; readonly devOptional?: boolean }

/** Folders of the packages that the program needs when it runs; Node itself is not taken from its package. */
function productPackages(): readonly string[] {
  const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync('package-lock.json', 'utf8'),
  )
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path.startsWith('node_modules/') && !dev && !devOptional)
    .map(([path]) => path)
    .filter(path => existsSync(path) && !basename(path).startsWith('node-linux-'))
}

const needed = /[.](c?js|mjs|json|node|wasm)$|^(licen[cs]e|notice|copying)([.]\w+)?$/i
const otherLibraries = /[.]musl[.]node$/

/** What runs and what says under which terms; packages inside of it come by themselves. */
function copyPackage(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, copy] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isFile() && needed.test(entry.name) && !otherLibraries.test(entry.name)) {
      mkdirSync(to, { recursive: true })
      cpSync(source, copy)
    } else if (entry.isDirectory() && isForThisMachine(source)) copyPackage(source, copy)
  }
}

function isForThisMachine(folder: string): boolean {
  const name = basename(folder)
  if (basename(dirname(folder)) === 'prebuilds') return name === `linux-${process.arch}`
  return name !== 'node_modules' && !name.startsWith('.')
}

function addons(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.node'))
    .map(name => join(folder, name))
}
