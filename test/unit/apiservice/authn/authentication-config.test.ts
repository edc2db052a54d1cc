import { expect, it } from 'vitest'
import { AuthenticationConfig } from '../../../../apiservice/authn/authentication-config.ts'
import type { ConfigMap } from '../../../../src/api/kinds/config-map.ts'
import type { Change } from '../../../../src/cluster/cluster.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { aCertificateAuthority } from '../../../support/certificates.ts'

const users = await aCertificateAuthority('users')
const proxies = await aCertificateAuthority('proxies')
const data = {
  'client-ca-file': users.pem,
  'requestheader-client-ca-file': proxies.pem,
  'requestheader-allowed-names': '["front-proxy-client"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-uid-headers': '["X-Remote-Uid"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
}

function world() {
  let tell: ((change: Change<ConfigMap>) => void) | undefined
  let synced = false
  const log = memoryLogger()
  const config = new AuthenticationConfig(
    {
      synced: Promise.resolve(),
      hasSynced: () => synced,
      onChange: listener => {
        tell = listener
      },
    },
    log,
  )
  let changes = 0
  config.onChange(() => {
    changes += 1
  })
  const set = (values: Readonly<Record<string, string>> | undefined): void => {
    synced = true
    const metadata = { namespace: 'kube-system', name: 'extension-apiserver-authentication' }
    const map: ConfigMap | undefined = values && {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata,
      data: values,
    }
    tell?.({ before: undefined, after: map })
  }
  return { config, log, set, changes: () => changes }
}

it('nobody is believed before the ConfigMap is read', () => {
  const { config } = world()
  expect(config.frontProxy.caBundle).toBe('')
  expect(() => config.check()).toThrow('has not been read yet')
})

it('the ConfigMap says whom to believe', () => {
  const { config, set, changes } = world()
  set(data)
  expect(config.clientCa).toBe(users.pem)
  expect(config.frontProxy).toEqual({
    caBundle: proxies.pem,
    allowedNames: ['front-proxy-client'],
    usernameHeaders: ['x-remote-user'],
    uidHeaders: ['x-remote-uid'],
    groupHeaders: ['x-remote-group'],
    extraHeaderPrefixes: ['x-remote-extra-'],
  })
  expect(changes()).toBe(1)
  expect(() => config.check()).not.toThrow()
})

it('a kube-apiserver that knows no headers for uids tells of none', () => {
  const { config, set } = world()
  const { 'requestheader-uid-headers': _none, ...older } = data
  set(older)
  expect(config.frontProxy.uidHeaders).toEqual([])
})

it.each([
  ['requestheader-client-ca-file', 'no certificate'],
  ['requestheader-allowed-names', '"front-proxy-client"'],
  ['requestheader-group-headers', '[1]'],
  ['requestheader-username-headers', '['],
  ['client-ca-file', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'],
])('what was known before stays in force when %s cannot be read', (key, value) => {
  const { config, log, set, changes } = world()
  set(data)
  const before = config.frontProxy
  set({ ...data, 'requestheader-uid-headers': '["X-Other"]', [key]: value })
  expect(config.frontProxy).toEqual(before)
  expect(changes()).toBe(1)
  expect(log.lines.at(-1)).toMatchObject({ level: 'error' })
})

it('nobody is believed any more when the ConfigMap is gone', () => {
  const { config, set } = world()
  set(data)
  set(undefined)
  expect(config.frontProxy).toMatchObject({ caBundle: '', usernameHeaders: [] })
  expect(config.clientCa).toBe('')
  expect(() => config.check()).toThrow('names no requestheader-client-ca-file')
})
