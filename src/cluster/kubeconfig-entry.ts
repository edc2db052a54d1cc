/** One context of a kubeconfig file: its cluster and its user, as they are written. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseYaml } from '../codec/yaml.ts'
import { errorText } from '../kernel/abort.ts'
import { isJsonObject } from './json.ts'
import type { Credentials } from './transport.ts'

type Json = Readonly<Record<string, unknown>>

export type KubeconfigEntry = {
  readonly path: string
  readonly context: string
  readonly cluster: Json
  readonly user: Json
}

export type KubeconfigSource = {
  readonly context: string
  readonly server: string
  readonly tlsServerName?: string
  /** Read anew at each call. */
  credentials(): Promise<Credentials>
}

/** What the file says of the context, by default its current one. Throws an `Error` with one sentence. */
export function readEntry({
  path,
  context,
}: {
  readonly path: string
  readonly context?: string
}): KubeconfigEntry {
  const document = readDocument(path)
  const name = context ?? text(document['current-context'])
  const found = named(document.contexts, name, 'context')
  if (found === undefined) throw new Error(`kubeconfig ${path} has no context "${name}"`)
  const cluster = named(document.clusters, text(found.cluster), 'cluster')
  if (cluster === undefined)
    throw new Error(`kubeconfig ${path}: the context "${name}" names no cluster of the file`)
  const user = named(document.users, text(found.user), 'user') ?? {}
  requireSupported(path, { cluster, user })
  return { path, context: name, cluster, user }
}

/** What would be left out without a word, and what to do instead. */
const unsupported = {
  cluster: {
    'insecure-skip-tls-verify': 'name a certificate-authority',
    'proxy-url': 'set HTTPS_PROXY',
  },
  user: {
    username: 'name a certificate or a token',
    password: 'name a certificate or a token',
    as: 'name a user with these rights',
    'as-uid': 'name a user with these rights',
    'as-groups': 'name a user with these rights',
    'as-user-extra': 'name a user with these rights',
  },
} as const

function requireSupported(path: string, entry: Pick<KubeconfigEntry, 'cluster' | 'user'>): void {
  for (const part of ['cluster', 'user'] as const) {
    for (const [field, instead] of Object.entries(unsupported[part])) {
      if (saysNothing(entry[part][field])) continue
      throw new Error(`kubeconfig ${path}: ${field} is not supported, ${instead}`)
    }
  }
}

function saysNothing(value: unknown): boolean {
  return !value || (typeof value === 'object' && Object.keys(value).length === 0)
}

const plainCluster = [
  'server',
  'certificate-authority',
  'certificate-authority-data',
  'tls-server-name',
  'extensions',
]
const plainUser = [
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'token',
  'tokenFile',
  'extensions',
]

/** Whether certificates and tokens are all that the context uses. */
export function isPlain({ cluster, user }: KubeconfigEntry): boolean {
  const knows = (known: readonly string[], entry: Json): boolean =>
    Object.keys(entry).every(k => known.includes(k))
  return knows([...plainCluster, 'insecure-skip-tls-verify'], cluster) && knows(plainUser, user)
}

export function plainSource(entry: KubeconfigEntry): KubeconfigSource {
  const { path, context, cluster } = entry
  const tlsServerName = text(cluster['tls-server-name'])
  return {
    context,
    server: text(cluster.server),
    ...(tlsServerName === '' ? {} : { tlsServerName }),
    credentials: async () => plainCredentials(dirname(path), entry),
  }
}

function plainCredentials(folder: string, { cluster, user }: KubeconfigEntry): Credentials {
  const inFile = (value: unknown): string | undefined =>
    typeof value === 'string' ? readFileSync(resolve(folder, value), 'utf8') : undefined
  const pem = (entry: Json, name: string): string | undefined => {
    const inline = entry[`${name}-data`]
    return typeof inline === 'string' ? Buffer.from(inline, 'base64').toString('utf8') : inFile(entry[name])
  }
  const found = {
    ca: pem(cluster, 'certificate-authority'),
    cert: pem(user, 'client-certificate'),
    key: pem(user, 'client-key'),
    token: inFile(user.tokenFile)?.trim() ?? (text(user.token) || undefined),
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

function readDocument(path: string): Json {
  try {
    const { value } = parseYaml(readFileSync(path, 'utf8'))
    if (!isJsonObject(value)) throw new Error('it holds no kubeconfig')
    return value
  } catch (cause) {
    throw new Error(`kubeconfig ${path} cannot be read: ${errorText(cause)}`, { cause })
  }
}

/** The entry of a named list, under the key that its kind is kept in. */
function named(list: unknown, name: string, key: string): Json | undefined {
  const entry = Array.isArray(list) ? list.find(item => isJsonObject(item) && item.name === name) : undefined
  return isJsonObject(entry) && isJsonObject(entry[key]) ? entry[key] : undefined
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
