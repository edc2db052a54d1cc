import type { Clock } from '../../src/kernel/clock.ts'
import { unauthorized } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { ApiRequest, Authenticator, UserInfo } from '../contract.ts'
import { CertificateTrust, commonNameOf } from './certificate-trust.ts'
import { extraKeyOf } from './extra-key.ts'

/** Which proxy is believed and how it says who asks (k8s.io/apiserver `requestheader`). Header names in lower case. */
export type FrontProxySettings = {
  /** PEM of the authorities of the proxy's certificate; empty: no proxy is believed. */
  readonly caBundle: string
  /** Common names that the certificate may have; empty: any. */
  readonly allowedNames: readonly string[]
  readonly usernameHeaders: readonly string[]
  readonly uidHeaders: readonly string[]
  readonly groupHeaders: readonly string[]
  readonly extraHeaderPrefixes: readonly string[]
}

export type FrontProxyOptions = {
  /** Read at every request, so it may change at any time. */
  readonly settings: () => FrontProxySettings
  readonly clock: Clock
  readonly log: Logger
}

type Headers = ApiRequest['headers']

/**
 * Users whom a front proxy, kube-apiserver, has authenticated. Its headers count only with a client certificate of its
 * own authority and with an allowed name: authorities of other clients do not vouch for it, and anybody can send headers.
 */
export function frontProxyAuthenticator({ settings, clock, log }: FrontProxyOptions): Authenticator {
  const trust = new CertificateTrust({ caBundle: () => settings().caBundle, read: commonNameOf, clock, log })
  const sent = new SentHeaders()
  const users = new SentUsers(sent)
  return {
    isCredential: header => sent.areOfProxy(header, settings()),
    authenticate: ({ headers, peer }) => {
      const current = settings()
      const name = firstOf(headers, current.usernameHeaders)
      if (name === undefined) return undefined
      const proxy = trust.verify(peer.certificates)
      if (proxy === undefined) return undefined
      if (current.allowedNames.length > 0 && !current.allowedNames.includes(proxy)) {
        throw unauthorized(`client certificate: ${JSON.stringify(proxy)} is no front proxy`)
      }
      return users.of(name, headers, current)
    },
  }
}

/** More users at once than that are read again, and those of whom so much is said each time. */
const maxUsers = 256
const maxSaid = 8 * 1024

/** More names of headers than that, and longer ones, are read again. */
const maxNames = 256
const maxNameLength = 64

/** Clients send few names, again and again. */
class SentHeaders {
  readonly #names = new Map<string, boolean>()
  #settings: FrontProxySettings | undefined

  areOfProxy(header: string, settings: FrontProxySettings): boolean {
    if (settings !== this.#settings || this.#names.size > maxNames) this.#names.clear()
    this.#settings = settings
    const known = this.#names.get(header)
    if (known !== undefined) return known
    const found = isFrontProxyHeader(header, settings)
    if (header.length <= maxNameLength) this.#names.set(header, found)
    return found
  }
}

/** The same user for the same headers, so that what is known of a user can be remembered with it. */
class SentUsers {
  readonly #sent: SentHeaders
  readonly #users = new Map<string, UserInfo>()
  #settings: FrontProxySettings | undefined

  constructor(sent: SentHeaders) {
    this.#sent = sent
  }

  of(name: string, headers: Headers, settings: FrontProxySettings): UserInfo {
    if (settings !== this.#settings) this.#users.clear()
    this.#settings = settings
    const key = saidBy(headers, header => this.#sent.areOfProxy(header, settings))
    const known = this.#users.get(key)
    if (known !== undefined) return known
    const user = userOf(name, headers, settings)
    if (key.length > maxSaid) return user
    if (this.#users.size >= maxUsers) this.#users.clear()
    this.#users.set(key, user)
    return user
  }
}

/** The headers that say who somebody is; another text for others, since it has the length of each value. */
function saidBy(headers: Headers, areOfProxy: (header: string) => boolean): string {
  let said = ''
  for (const [header, values] of headers) {
    if (!areOfProxy(header)) continue
    said += `${header} ${values.length} `
    for (const value of values) said += `${value.length} ${value}`
  }
  return said
}

function userOf(name: string, headers: Headers, settings: FrontProxySettings): UserInfo {
  const uid = firstOf(headers, settings.uidHeaders)
  return {
    name,
    ...(uid === undefined ? {} : { uid }),
    // One line of a header is one group: names may hold commas.
    groups: settings.groupHeaders.flatMap(header => headers.get(header) ?? []).filter(group => group !== ''),
    extra: extraOf(headers, settings.extraHeaderPrefixes),
    isSentOn: true,
  }
}

function extraOf(headers: Headers, prefixes: readonly string[]): UserInfo['extra'] {
  const extra = new Map<string, readonly string[]>()
  for (const prefix of prefixes) {
    for (const [header, values] of headers) {
      if (!header.startsWith(prefix)) continue
      const key = extraKeyOf(header.slice(prefix.length))
      extra.set(key, [...(extra.get(key) ?? []), ...values])
    }
  }
  return Object.fromEntries(extra)
}

function firstOf(headers: Headers, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers.get(name)?.[0] ?? ''
    if (value !== '') return value
  }
  return undefined
}

const standardHeaders = /^x-remote-(user|uid|group|extra-.*)$/

/** Whether a header says who somebody is for a front proxy, by its settings or by custom. */
function isFrontProxyHeader(header: string, settings: FrontProxySettings): boolean {
  const { usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = settings
  return (
    standardHeaders.test(header) ||
    [usernameHeaders, uidHeaders, groupHeaders].some(names => names.includes(header)) ||
    extraHeaderPrefixes.some(prefix => header.startsWith(prefix))
  )
}
