// glibc's resolver as pods use it: in a network of its own, where the responder has port 53 and resolv.conf names it.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/fleet.ts'

const isolated = ['--user', '--map-root-user', '--net', '--mount']
const canIsolate = spawnSync('unshare', [...isolated, 'ip', 'link', 'set', 'lo', 'up']).status === 0
if (!canIsolate) process.stdout.write('skipped: there are no user namespaces, or no iproute2\n')

const script = `set -e
ip link set lo up
mount --bind "$FOLDER/resolv.conf" /etc/resolv.conf
"$NODE" test/peers/example-server.ts > "$FOLDER/ready" &
server=$!
for i in $(seq 200); do grep -q ready "$FOLDER/ready" && break; sleep 0.1; done
for name in "$@"; do
  echo "$name: $(getent ahosts "$name" | sed -n 's/ *STREAM.*//p' | sort | tr '\\n' ' ')"
done
kill $server
`

const many = 1200

describe.skipIf(!canIsolate)("glibc's resolver", () => {
  it('finds services, endpoints and sets that do not fit into a datagram', { timeout: 120_000 }, () => {
    const folder = temporaryFolder()
    try {
      writeFileSync(
        join(folder.path, 'resolv.conf'),
        'nameserver 127.0.0.1\nsearch prod.svc.clusterset.local\noptions ndots:5 timeout:2\n',
      )
      const names = ['web.prod.svc.clusterset.local', 'db-0.west.db.prod.svc.clusterset.local', 'v6', 'nope']
      const ran = spawnSync('unshare', [...isolated, 'sh', '-c', script, 'sh', ...names, 'big'], {
        encoding: 'utf8',
        env: { ...process.env, FOLDER: folder.path, NODE: process.execPath },
        timeout: 100_000,
      })
      const lines = ran.stdout.trim().split('\n')
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
