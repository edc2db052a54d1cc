import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** What a real kube-apiserver answered, where it is at hand. */
const recordings = join(import.meta.dirname, '../../../shared/golden')

export const hasRecordings = existsSync(recordings)
export const scenarios = ['apply', 'crud', 'errors', 'patch', 'status', 'validation', 'versions', 'discovery']

export type Administrator = {
  readonly server: string
  /** Paths of a certificate and its key. */
  readonly cert: string
  readonly key: string
}

/** Sends the requests of a scenario again; the last line says how many answers agree and how many differ. */
export function replay(scenario: string, { server, cert, key }: Administrator): string {
  const ran = spawnSync(
    process.execPath,
    [
      join(recordings, 'replay.mjs'),
      'check',
      ...['--server', server, '--cert', cert, '--key', key],
      join(recordings, 'recorded', `${scenario}.json`),
    ],
    { encoding: 'utf8' },
  )
  return ran.stdout
}

export const allAgree = /golden: [1-9]\d* agree, 0 differ\n$/
