// glibc's resolver as pods use it.
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/fleet.ts'
import { canIsolate, runIsolated } from './isolated.ts'

const loop = `for name in "$@"; do
  echo "$name: $(getent ahosts "$name" | sed -n 's/ *STREAM.*//p' | sort | tr '\\n' ' ')"
done
`

const many = 1200

describe.skipIf(!canIsolate())("glibc's resolver", () => {
  it('finds services, endpoints and sets that do not fit into a datagram', { timeout: 120_000 }, () => {
    const folder = temporaryFolder()
    try {
      const names = ['web.prod.svc.clusterset.local', 'db-0.west.db.prod.svc.clusterset.local', 'v6', 'nope']
      const lines = runIsolated(folder.path, ['sh', '-c', loop, 'sh', ...names, 'big'])
        .trim()
        .split('\n')
      expect(lines.slice(0, 4).map(line => line.trimEnd())).toEqual([
        'web.prod.svc.clusterset.local: 10.42.0.10 fd00::10',
        'db-0.west.db.prod.svc.clusterset.local: 10.2.0.1',
        'v6: fd00:1::9',
        'nope:',
      ])
      expect(new Set(lines[4]?.replace('big: ', '').trim().split(' ')).size).toBe(many)
    } finally {
      folder.dispose()
    }
  })
})
