import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorText } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import type { FromKubeconfig } from './kubeconfig.ts'
import type { Credentials } from './transport.ts'

export type InClusterOptions = {
  readonly clock: Clock
  /** The process's unless told. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Where kubelet puts the service account. */
  readonly folder?: string
}

const defaultFolder = '/var/run/secrets/kubernetes.io/serviceaccount'
/** Tokens live for an hour, and kubelet renews them long before. */
const rereadMs = 60_000

/** The cluster that a pod runs in, with its service account. Throws an `Error` with one sentence outside of a pod. */
export function fromServiceAccount(options: InClusterOptions): FromKubeconfig {
  const { clock, environment = process.env, folder = defaultFolder } = options
  const host = environment.KUBERNETES_SERVICE_HOST ?? ''
  const port = environment.KUBERNETES_SERVICE_PORT ?? ''
  if (host === '' || port === '') {
    throw new Error('this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set')
  }
  let read = { atMs: clock.now(), credentials: credentialsIn(folder) }
  return {
    name: 'in-cluster',
    servers: [`https://${host.includes(':') ? `[${host}]` : host}:${port}`],
    credentials: async () => {
      if (clock.now() - read.atMs >= rereadMs)
        read = { atMs: clock.now(), credentials: credentialsIn(folder) }
      return read.credentials
    },
  }
}

function credentialsIn(folder: string): Credentials {
  try {
    const text = (name: string): string => readFileSync(join(folder, name), 'utf8')
    return { ca: text('ca.crt'), token: text('token').trim() }
  } catch (cause) {
    throw new Error(`the service account of this pod cannot be read: ${errorText(cause)}`, { cause })
  }
}
