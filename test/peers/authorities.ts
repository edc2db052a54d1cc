/** Knot and NSD with a zone file. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Peer, startPeer } from './peer.ts'

export type AuthorityOptions = {
  /** For all that they write. */
  readonly folder: string
  readonly port: number
  /** The text of the zone file of clusterset.local. */
  readonly zone: string
}

export function startKnot({ folder, port, zone }: AuthorityOptions): Promise<Peer> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'zone'), zone)
  const config = join(folder, 'knot.conf')
  writeFileSync(
    config,
    `server:
    rundir: ${folder}
    listen: 127.0.0.1@${port}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: ${folder}
log:
  - target: stderr
    any: warning
zone:
  - domain: clusterset.local
    file: ${folder}/zone
    storage: ${folder}
    journal-content: none
    zonefile-sync: -1
`,
  )
  return startPeer({ command: 'knotd', args: ['-c', config], port })
}

export function startNsd({ folder, port, zone }: AuthorityOptions): Promise<Peer> {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'zone'), zone)
  const config = join(folder, 'nsd.conf')
  writeFileSync(
    config,
    `server:
  server-count: 1
  ip-address: 127.0.0.1@${port}
  zonesdir: ${folder}
  database: ""
  pidfile: ${folder}/pid
  xfrdfile: ${folder}/xfrd
  xfrdir: ${folder}
  zonelistfile: ${folder}/list
  cookie-secret-file: ${folder}/cookie
  username: ""
  tcp-count: 1000
  minimal-responses: yes
remote-control:
  control-enable: no
zone:
  name: clusterset.local
  zonefile: zone
`,
  )
  return startPeer({ command: 'nsd', args: ['-d', '-c', config], port })
}
