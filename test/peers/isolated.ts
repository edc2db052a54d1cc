/** A network of its own, where the responder has port 53 and resolv.conf names it, as in a pod. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const isolated = ['--user', '--map-root-user', '--net', '--mount']

/** Says so when it cannot be had. */
export function canIsolate(): boolean {
  const can = spawnSync('unshare', [...isolated, 'ip', 'link', 'set', 'lo', 'up']).status === 0
  if (!can) process.stdout.write('skipped: there are no user namespaces, or no iproute2\n')
  return can
}

const script = `set -e
ip link set lo up
mount --bind "$FOLDER/resolv.conf" /etc/resolv.conf
"$NODE" test/peers/example-server.ts > "$FOLDER/ready" &
server=$!
for i in $(seq 200); do grep -q ready "$FOLDER/ready" && break; sleep 0.1; done
"$@"
kill $server
`

/** What the command prints, with the example zone as its only DNS. */
export function runIsolated(folder: string, command: readonly string[]): string {
  writeFileSync(
    join(folder, 'resolv.conf'),
    'nameserver 127.0.0.1\nsearch prod.svc.clusterset.local\noptions ndots:5 timeout:2\n',
  )
  const ran = spawnSync('unshare', [...isolated, 'sh', '-c', script, 'sh', ...command], {
    encoding: 'utf8',
    env: { ...process.env, FOLDER: folder, NODE: process.execPath },
    timeout: 100_000,
  })
  if (ran.status !== 0) throw new Error(`${command[0]} ended with ${ran.status}: ${ran.stderr}`)
  return ran.stdout
}
