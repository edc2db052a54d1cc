// The folders that labs live in, outside the repository. Each belongs to the process that made it, or to nobody when
// it is to stay until `npm run e2e:down`.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../../support/go-module.ts'

type Owner = { readonly pid: number; readonly started: string }

/** A unix socket of etcd or containerd lies below; the kernel takes paths of at most 107 bytes. */
const maxFolderLength = 60

export function labsFolder(): string {
  return join(cacheFolder(), 'lab')
}

export function labFolders(): readonly string[] {
  const root = labsFolder()
  return existsSync(root) ? readdirSync(root).map(name => join(root, name)) : []
}

/** Makes the folder for a lab. Throws a sentence when another lab of this name is up. */
export function claimFolder(name: string, kept: boolean): string {
  if (!/^[a-z0-9-]+$/.test(name))
    throw new Error(`"${name}" is no name for a lab: letters, digits and dashes`)
  const folder = join(labsFolder(), name)
  if (Buffer.byteLength(folder) > maxFolderLength) {
    throw new Error(`${folder} is too long a path for the lab's sockets: set ISTHMUS_CACHE to a shorter one`)
  }
  mkdirSync(labsFolder(), { recursive: true })
  try {
    mkdirSync(folder, { mode: 0o755 })
  } catch (cause) {
    throw new Error(`a lab named ${name} is up, or was left by a crash: npm run e2e:down removes it`, {
      cause,
    })
  }
  const owner: Owner | undefined = kept ? undefined : { pid: process.pid, started: startOf(process.pid) }
  writeFileSync(join(folder, 'owner.json'), JSON.stringify(owner ?? null))
  return folder
}

/** Whether a process that still runs will take this lab down itself. */
export function isOwned(folder: string): boolean {
  const file = join(folder, 'owner.json')
  if (!existsSync(file)) return false
  const owner: Owner | null = JSON.parse(readFileSync(file, 'utf8') || 'null')
  return owner !== null && owner.started !== '' && startOf(owner.pid) === owner.started
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** When a process began, in ticks since boot: with its number it tells a process from a later one. */
function startOf(pid: number): string {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return ''
  const afterName = readFileSync(file, 'utf8').replace(/^.*[)] /s, '')
  return afterName.split(' ')[19] ?? ''
}
