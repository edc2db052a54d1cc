import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fromServiceAccount } from '../../../../src/cluster/in-cluster.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { temporaryFolder } from '../../../support/fleet.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const environment = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }
let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
  write('ca.crt', 'CA')
  write('token', 'abc\n')
})
afterEach(() => folder.dispose())

function write(name: string, text: string): void {
  writeFileSync(join(folder.path, name), text)
}

it('a pod reaches its kube-apiserver with its service account', async () => {
  const found = fromServiceAccount({ clock: manualClock(), environment, folder: folder.path })
  expect(found).toMatchObject({ name: 'in-cluster', servers: ['https://10.96.0.1:443'] })
  expect(await found.credentials(never)).toEqual({ ca: 'CA', token: 'abc' })
})

it('the address may be one of IPv6', () => {
  const ipv6 = { ...environment, KUBERNETES_SERVICE_HOST: 'fd00::1' }
  const found = fromServiceAccount({ clock: manualClock(), environment: ipv6, folder: folder.path })
  expect(found.servers).toEqual(['https://[fd00::1]:443'])
})

it('a token that kubelet has renewed is used within a minute', async () => {
  const clock = manualClock()
  const found = fromServiceAccount({ clock, environment, folder: folder.path })
  write('token', 'next')
  expect(await found.credentials(never)).toMatchObject({ token: 'abc' })
  await clock.advance(60_000)
  expect(await found.credentials(never)).toEqual({ ca: 'CA', token: 'next' })
})

it('outside of a pod there is none', () => {
  const outside = { clock: manualClock(), environment: {}, folder: folder.path }
  expect(() => fromServiceAccount(outside)).toThrow('this is no pod')
  rmSync(join(folder.path, 'token'))
  const broken = { clock: manualClock(), environment, folder: folder.path }
  expect(() => fromServiceAccount(broken)).toThrow('the service account of this pod cannot be read')
})
