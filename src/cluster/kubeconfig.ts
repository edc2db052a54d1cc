/**
 * The server and the credentials that a kubeconfig names, with every way to sign in that `KubeConfig` of
 * @kubernetes/client-node knows. Certificates and tokens are read without it: the package is loaded here and nowhere
 * else, for exec plugins, OIDC and their like, since it costs 70 MB and 0.4 s.
 */
import { statSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import type { Clock } from '../kernel/clock.ts'
import {
  isPlain,
  type KubeconfigEntry,
  type KubeconfigSource,
  plainSource,
  readEntry,
} from './kubeconfig-entry.ts'
import type { Credentials, TransportOptions } from './transport.ts'

export type KubeconfigOptions = {
  readonly path: string
  /** The file's current context when absent. */
  readonly context?: string
  readonly clock: Clock
}

export type FromKubeconfig = Pick<TransportOptions, 'servers' | 'credentials'> & {
  readonly tlsServerName?: string
  /** The context's name. */
  readonly name: string
}

/** Files and tokens are read again after so long, as client-go does with token files. */
const rereadMs = 60_000

/** Throws an `Error` with one sentence when the file or what it names cannot be used. */
export async function fromKubeconfig(options: KubeconfigOptions): Promise<FromKubeconfig> {
  const { path, clock } = options
  let source = await openSource(options)
  let modifiedMs = statSync(path).mtimeMs
  let read: { readonly atMs: number; readonly credentials: Credentials } | undefined
  return {
    name: source.context,
    servers: [source.server],
    ...(source.tlsServerName === undefined ? {} : { tlsServerName: source.tlsServerName }),
    credentials: async () => {
      if (read !== undefined && clock.now() - read.atMs < rereadMs) return read.credentials
      const changedMs = statSync(path).mtimeMs
      if (changedMs !== modifiedMs) source = await openSource(options)
      modifiedMs = changedMs
      read = { atMs: clock.now(), credentials: await source.credentials() }
      return read.credentials
    },
  }
}

async function openSource(options: KubeconfigOptions): Promise<KubeconfigSource> {
  const entry = readEntry(options)
  return isPlain(entry) ? plainSource(entry) : librarySource(entry)
}

async function librarySource(entry: KubeconfigEntry): Promise<KubeconfigSource> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  config.loadFromFile(entry.path)
  config.setCurrentContext(entry.context)
  const { server, tlsServerName } = plainSource(entry)
  return {
    context: entry.context,
    server,
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    credentials: () => credentialsOf(config),
  }
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const request: RequestOptions = {}
  await config.applyToHTTPSOptions(request)
  const headers = new Map(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const token = /^Bearer (.+)$/.exec(String(headers.get('authorization') ?? ''))?.[1]
  const pem = Object.entries({ ca: request.ca, cert: request.cert, key: request.key })
  return {
    ...Object.fromEntries(pem.filter(([, value]) => value).map(([name, value]) => [name, String(value)])),
    ...(token === undefined ? {} : { token: token.trim() }),
  }
}
