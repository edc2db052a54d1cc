import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Peer, startPeer } from './peer.ts'

/**
 * Unbound in front of a responder, as strict as it can be: it mixes the case of names (0x20), takes NXDOMAIN for everything
 * below a name (RFC 8020), and validates whatever is not said to be insecure.
 */
export function startUnbound(options: {
  readonly folder: string
  readonly port: number
  readonly responderPort: number
}): Promise<Peer> {
  const { folder, port, responderPort } = options
  mkdirSync(folder, { recursive: true })
  const config = join(folder, 'unbound.conf')
  writeFileSync(
    config,
    `server:
  interface: 127.0.0.1
  port: ${port}
  do-daemonize: no
  chroot: ""
  username: ""
  pidfile: ""
  directory: "${folder}"
  use-syslog: no
  num-threads: 1
  do-not-query-localhost: no
  module-config: "validator iterator"
  domain-insecure: "clusterset.local"
  use-caps-for-id: yes
  harden-below-nxdomain: yes
  harden-short-bufsize: yes
  qname-minimisation: yes
  edns-buffer-size: 1232
stub-zone:
  name: "clusterset.local"
  stub-addr: 127.0.0.1@${responderPort}
remote-control:
  control-enable: no
`,
  )
  return startPeer({ command: 'unbound', args: ['-d', '-c', config], port })
}
