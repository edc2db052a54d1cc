/**
 * The server and the credentials that a kubeconfig names, with every way to sign in that `KubeConfig` of
 * @kubernetes/client-node knows (files, tokens, exec plugins, OIDC). The package is loaded here and nowhere else, when
 * a kubeconfig is really used: it costs 70 MB and 0.4 s.
 */
import { statSync } from 'node:fs'
import type { RequestOptions } from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import type { Clock } from '../kernel/clock.ts'
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
  let config = await loaded(options)
  let modifiedMs = statSync(path).mtimeMs
  const cluster = config.getCurrentCluster()
  if (cluster === null) throw new Error(`kubeconfig ${path}: the context names no cluster of the file`)
  if (cluster.skipTLSVerify) {
    throw new Error(
      `kubeconfig ${path}: insecure-skip-tls-verify is not supported, name a certificate-authority`,
    )
  }
  let read: { readonly atMs: number; readonly credentials: Credentials } | undefined
  return {
    name: config.getCurrentContext(),
    servers: [cluster.server],
    ...(cluster.tlsServerName === undefined ? {} : { tlsServerName: cluster.tlsServerName }),
    credentials: async () => {
      if (read !== undefined && clock.now() - read.atMs < rereadMs) return read.credentials
      const changedMs = statSync(path).mtimeMs
      if (changedMs !== modifiedMs) config = await loaded(options)
      modifiedMs = changedMs
      read = { atMs: clock.now(), credentials: await credentialsOf(config) }
      return read.credentials
    },
  }
}

async function loaded({ path, context }: KubeconfigOptions): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node')
  const config = new KubeConfig()
  try {
    config.loadFromFile(path)
  } catch (cause) {
    throw new Error(`kubeconfig ${path} cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    })
  }
  if (context !== undefined) config.setCurrentContext(context)
  if (config.getContextObject(config.getCurrentContext()) === null) {
    throw new Error(`kubeconfig ${path} has no context "${config.getCurrentContext() ?? ''}"`)
  }
  return config
}

async function credentialsOf(config: KubeConfig): Promise<Credentials> {
  const request: RequestOptions = {}
  await config.applyToHTTPSOptions(request)
  const headers = new Map(
    Object.entries(request.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
  )
  const token = /^Bearer (.+)$/.exec(String(headers.get('authorization') ?? ''))?.[1]
  const pem = { ca: request.ca, cert: request.cert, key: request.key }
  return {
    ...Object.fromEntries(
      Object.entries(pem)
        .filter(([, value]) => value)
        .map(([name, value]) => [name, String(value)]),
    ),
    ...(token === undefined ? {} : { token: token.trim() }),
  }
}
