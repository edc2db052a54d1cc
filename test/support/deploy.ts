// The overlays of deploy/, and a copy of it in which users have written what they are told to.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folders that kubectl builds. */
export const overlays = readdirSync('deploy', { recursive: true, encoding: 'utf8' })
  .filter(path => path.endsWith('/kustomization.yaml'))
  .map(path => path.replace('/kustomization.yaml', ''))

/** Returns its path, below the folder. */
export function copyOfDeploy(folder: string): string {
  const copy = join(folder, 'deploy')
  cpSync('deploy', copy, { recursive: true })
  for (const path of overlays) {
    const text = readFileSync(join(copy, path, 'kustomization.yaml'), 'utf8')
    if (text.includes('join-token')) writeFileSync(join(copy, path, 'join-token'), 'isthmus://token')
    for (const [, file = ''] of text.matchAll(/=(etcd-[a-z.-]+)$/gm))
      writeFileSync(join(copy, path, file), 'PEM')
  }
  return copy
}
