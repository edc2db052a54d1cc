import { chmodSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fromKubeconfig } from '../../../../src/cluster/kubeconfig.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { temporaryFolder } from '../../../support/fleet.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')

function kubeconfig(user: object, cluster: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'east',
    contexts: [
      { name: 'east', context: { cluster: 'c', user: 'u' } },
      { name: 'west', context: { cluster: 'other', user: 'u' } },
      { name: 'lost', context: { cluster: 'missing', user: 'u' } },
    ],
    clusters: [
      {
        name: 'c',
        cluster: { server: 'https://east:6443', 'certificate-authority-data': base64('CA'), ...cluster },
      },
      { name: 'other', cluster: { server: 'https://west:6443' } },
    ],
    users: [{ name: 'u', user }],
  })
}

describe('a kubeconfig', () => {
  const clock = manualClock()
  let folder: ReturnType<typeof temporaryFolder>
  let path: string
  beforeEach(() => {
    folder = temporaryFolder()
    path = join(folder.path, 'config')
  })
  afterEach(() => folder.dispose())

  it('gives the server and the credentials of its current context', async () => {
    const user = { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') }
    writeFileSync(path, kubeconfig(user, { 'tls-server-name': 'api.east' }))
    const found = await fromKubeconfig({ path, clock })
    expect(found).toMatchObject({
      name: 'east',
      servers: ['https://east:6443'],
      tlsServerName: 'api.east',
    })
    expect(await found.credentials(never)).toEqual({ ca: 'CA', cert: 'CERT', key: 'KEY' })
  })

  it('gives another context when asked', async () => {
    writeFileSync(path, kubeconfig({ token: 'abc' }))
    const found = await fromKubeconfig({ path, context: 'west', clock })
    expect(found.servers).toEqual(['https://west:6443'])
    expect(await found.credentials(never)).toEqual({ token: 'abc' })
  })

  it('reads files beside it, and reads them again after a minute', async () => {
    writeFileSync(join(folder.path, 'cert'), 'FIRST')
    writeFileSync(join(folder.path, 'key'), 'KEY')
    writeFileSync(path, kubeconfig({ 'client-certificate': 'cert', 'client-key': 'key' }))
    const found = await fromKubeconfig({ path, clock })
    expect(await found.credentials(never)).toMatchObject({ cert: 'FIRST' })
    writeFileSync(join(folder.path, 'cert'), 'SECOND')
    expect(await found.credentials(never)).toMatchObject({ cert: 'FIRST' })
    await clock.advance(60_000)
    expect(await found.credentials(never)).toMatchObject({ cert: 'SECOND' })
  })

  it('is itself read again when it changes', async () => {
    writeFileSync(path, kubeconfig({ token: 'old' }))
    const found = await fromKubeconfig({ path, clock })
    expect(await found.credentials(never)).toMatchObject({ token: 'old' })
    writeFileSync(path, kubeconfig({ token: 'new' }))
    utimesSync(path, 1, 1)
    await clock.advance(60_000)
    expect(await found.credentials(never)).toMatchObject({ token: 'new' })
  })

  it('reads a token file', async () => {
    writeFileSync(join(folder.path, 'token'), 'abc\n')
    writeFileSync(path, kubeconfig({ tokenFile: 'token', token: 'less' }))
    const found = await fromKubeconfig({ path, clock })
    expect(await found.credentials(never)).toMatchObject({ token: 'abc' })
  })

  it.each([
    ['proxy-url', {}, { 'proxy-url': 'http://proxy' }],
    ['username', { username: 'ada' }, {}],
    ['password', { password: 'secret' }, {}],
    ['as', { as: 'ada' }, {}],
    ['as-uid', { 'as-uid': '1' }, {}],
    ['as-groups', { 'as-groups': ['a'] }, {}],
    ['as-user-extra', { 'as-user-extra': { a: ['b'] } }, {}],
  ])('with %s is refused, since it would go without', async (field, user, cluster) => {
    writeFileSync(path, kubeconfig({ token: 'abc', ...user }, cluster))
    await expect(fromKubeconfig({ path, clock })).rejects.toThrow(`config: ${field} is not supported, `)
  })

  it('may have fields that say nothing', async () => {
    const user = { token: 'abc', username: '', 'as-groups': [], 'as-user-extra': {} }
    writeFileSync(path, kubeconfig(user, { 'proxy-url': '', 'insecure-skip-tls-verify': false }))
    const found = await fromKubeconfig({ path, clock })
    expect(await found.credentials(never)).toMatchObject({ token: 'abc' })
  })

  it('asks an exec plugin', async () => {
    const plugin = join(folder.path, 'plugin')
    const credential = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'made' },
    }
    writeFileSync(plugin, `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`)
    chmodSync(plugin, 0o755)
    const exec = { apiVersion: credential.apiVersion, command: plugin, interactiveMode: 'Never' }
    writeFileSync(path, kubeconfig({ exec }))
    const found = await fromKubeconfig({ path, clock })
    expect(await found.credentials(never)).toMatchObject({ token: 'made' })
  })

  it.each([
    ['absent', undefined, undefined, /^kubeconfig .*config cannot be read: ENOENT/],
    ['no YAML', 'a: [', undefined, /^kubeconfig .*config cannot be read: /],
    ['without the context', kubeconfig({}), 'north', /^kubeconfig .*config has no context "north"$/],
    ['without the cluster', kubeconfig({}), 'lost', /names no cluster of the file$/],
    [
      'insecure',
      kubeconfig({}, { 'insecure-skip-tls-verify': true }),
      undefined,
      /insecure-skip-tls-verify is not supported/,
    ],
  ])('that is %s is refused in one sentence', async (_what, text, context, message) => {
    if (text !== undefined) writeFileSync(path, text)
    const options = { path, clock, ...(context === undefined ? {} : { context }) }
    await expect(fromKubeconfig(options)).rejects.toThrow(message)
  })
})
