import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { root } from './kinds-index.ts'

const maxBuffer = 64 * 1024 * 1024

/** The npm that runs this script, or else that of the path. */
export function runNpm(args: readonly string[]): SpawnSyncReturns<string> {
  const npm = process.env.npm_execpath
  const [command, ...first] = npm === undefined ? ['npm'] : [process.execPath, npm]
  return spawnSync(command ?? 'npm', [...first, ...args], { encoding: 'utf8', cwd: root, maxBuffer })
}
