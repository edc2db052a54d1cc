import type { ConfigMap } from '../../src/api/kinds/config-map.ts'
import type { Informer } from '../../src/cluster/cluster.ts'
import { errorText } from '../../src/kernel/abort.ts'
import type { Logger } from '../../src/kernel/log.ts'
import { certificatesOf } from './certificate-trust.ts'
import type { FrontProxySettings } from './front-proxy.ts'

/** Where kube-apiserver tells aggregated servers whom to believe. */
export const authenticationConfigMap = {
  namespace: 'kube-system',
  name: 'extension-apiserver-authentication',
}

type ConfigMaps = Pick<Informer<ConfigMap>, 'hasSynced' | 'onChange' | 'synced'>

type Config = { readonly clientCa: string; readonly frontProxy: FrontProxySettings }

const nobody: FrontProxySettings = {
  caBundle: '',
  allowedNames: [],
  usernameHeaders: [],
  uidHeaders: [],
  groupHeaders: [],
  extraHeaderPrefixes: [],
}

/**
 * Whom kube-apiserver tells us to believe, kept current: its front proxy and the authority of its users. What cannot be
 * read is logged, and what was known before stays in force; when the ConfigMap goes, nobody is believed any more.
 */
export class AuthenticationConfig {
  readonly #informer: ConfigMaps
  readonly #log: Logger
  readonly #listeners: (() => void)[] = []
  #config: Config = { clientCa: '', frontProxy: nobody }

  constructor(informer: ConfigMaps, log: Logger) {
    this.#informer = informer
    this.#log = log
    informer.onChange(({ after }) => this.#take(after))
  }

  /** Resolves when the ConfigMap has been looked for. */
  get synced(): Promise<void> {
    return this.#informer.synced
  }

  /** PEM of the authorities of users' client certificates; may be empty. */
  get clientCa(): string {
    return this.#config.clientCa
  }

  get frontProxy(): FrontProxySettings {
    return this.#config.frontProxy
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Throws with why requests of kube-apiserver would not be believed. */
  check(): void {
    const { namespace, name } = authenticationConfigMap
    if (!this.#informer.hasSynced())
      throw new Error(`the ConfigMap ${namespace}/${name} has not been read yet`)
    if (this.frontProxy.caBundle === '')
      throw new Error(`the ConfigMap ${namespace}/${name} names no requestheader-client-ca-file`)
  }

  #take(map: ConfigMap | undefined): void {
    try {
      this.#config = configOf(map?.data ?? {})
    } catch (thrown) {
      this.#log.error('authentication config cannot be used', { error: errorText(thrown) })
      return
    }
    this.#log.info('authentication config read', { frontProxy: this.frontProxy.caBundle !== '' })
    for (const listener of this.#listeners) listener()
  }
}

function configOf(data: Readonly<Record<string, string>>): Config {
  const lowerCase = (key: string): readonly string[] => listOf(data, key).map(name => name.toLowerCase())
  return {
    clientCa: bundleOf(data, 'client-ca-file'),
    frontProxy: {
      caBundle: bundleOf(data, 'requestheader-client-ca-file'),
      allowedNames: listOf(data, 'requestheader-allowed-names'),
      usernameHeaders: lowerCase('requestheader-username-headers'),
      uidHeaders: lowerCase('requestheader-uid-headers'),
      groupHeaders: lowerCase('requestheader-group-headers'),
      extraHeaderPrefixes: lowerCase('requestheader-extra-headers-prefix'),
    },
  }
}

function bundleOf(data: Readonly<Record<string, string>>, key: string): string {
  const pem = data[key] ?? ''
  try {
    certificatesOf(pem)
    return pem
  } catch (cause) {
    throw new Error(`${key}: ${errorText(cause)}`, { cause })
  }
}

function listOf(data: Readonly<Record<string, string>>, key: string): readonly string[] {
  const text = data[key] ?? ''
  if (text === '') return []
  const list: unknown = JSON.parse(text)
  if (!Array.isArray(list) || !list.every(item => typeof item === 'string')) {
    throw new Error(`${key} is no list of texts`)
  }
  return list
}
