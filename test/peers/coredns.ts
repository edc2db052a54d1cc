/** CoreDNS, built once from test/peers/coredns. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildGo, type GoProgram, goProgram } from '../support/go-module.ts'
import { type Peer, startPeer } from './peer.ts'

export type CoreDnsOptions = {
  /** Where the Corefile goes. */
  readonly folder: string
  readonly port: number
  readonly corefile: string
  /** It is up when it answers for this name. */
  readonly name?: string
}

const program: GoProgram = { module: 'test/peers/coredns' }

/** Why there is no CoreDNS to run, undefined if there is. */
export function coreDnsMissing(): string | undefined {
  const found = goProgram(program, 'programs')
  return 'missing' in found ? found.missing : undefined
}

export function startCoreDns({ folder, port, corefile, name }: CoreDnsOptions): Promise<Peer> {
  const file = join(folder, `Corefile-${port}`)
  writeFileSync(file, corefile)
  const command = buildGo(program)
  return startPeer({ command, args: ['-conf', file], port, ...(name === undefined ? {} : { name }) })
}

/** The plugin `kubernetes` in multicluster mode over the API server that the kubeconfig names. */
export function multiclusterCorefile(
  port: number,
  world: { readonly kubeconfig: string; readonly context: string },
  plugins: readonly string[] = [],
): string {
  return `clusterset.local:${port} {
    bind 127.0.0.1
    ${plugins.join('\n    ')}
    kubernetes clusterset.local {
        kubeconfig ${world.kubeconfig} ${world.context}
        multicluster clusterset.local
    }
}
`
}
