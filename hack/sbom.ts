// npm run sbom [-- FILE]: what the program is made of, as CycloneDX. With a file, also says how many there are.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './kinds-index.ts'
import { runNpm } from './npm.ts'

type Lock = {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly version?: string }>>
}
type Bom = {
  readonly components: readonly { readonly name: string; readonly version: string }[]
  readonly metadata: { readonly component: { readonly 'bom-ref': string } }
  readonly dependencies: readonly { readonly ref: string }[]
}

const ran = runNpm(['sbom', '--package-lock-only', '--sbom-format=cyclonedx'])
if (ran.status !== 0) throw new Error(`npm sbom: ${ran.stderr}`)

// With --omit=dev npm leaves out what a tool of ours uses as well.
const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
const ours = new Set(
  Object.entries(lock.packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`),
)
const whole: Bom = JSON.parse(ran.stdout)
const components = whole.components.filter(({ name, version }) => ours.has(`${name}@${version}`))
const listed = new Set(components.map(({ name, version }) => `${name}@${version}`))
const missing = [...ours].filter(name => !listed.has(name))
if (missing.length > 0) throw new Error(`the bill of materials lacks ${missing.join(', ')}`)

const kept = new Set([...ours, whole.metadata.component['bom-ref']])
const dependencies = whole.dependencies.filter(({ ref }) => kept.has(ref))
const text = `${JSON.stringify({ ...whole, components, dependencies }, undefined, 2)}\n`
const [file] = process.argv.slice(2)
if (file === undefined) process.stdout.write(text)
else {
  writeFileSync(file, text)
  process.stdout.write(`sbom: ${listed.size} packages in ${file}\n`)
}
