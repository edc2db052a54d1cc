// What a real kube-apiserver answered to the same requests, where the recordings are at hand.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Fleet, startFleet, temporaryFolder } from '../support/fleet.ts'
import { allAgree, hasRecordings, replay, scenarios } from '../support/recorded-answers.ts'

const folder = temporaryFolder()
let fleet: Fleet | undefined

/** The administrator's certificate and key as files, taken from the kubeconfig. */
function credentials(kubeconfig: string): { cert: string; key: string } {
  const [entry] = parse(readFileSync(kubeconfig, 'utf8')).users
  const save = (name: string, base64: string): string => {
    const path = join(folder.path, name)
    writeFileSync(path, Buffer.from(base64, 'base64'), { mode: 0o600 })
    return path
  }
  return {
    cert: save('admin.crt', entry.user['client-certificate-data']),
    key: save('admin.key', entry.user['client-key-data']),
  }
}

beforeAll(async () => {
  if (hasRecordings) {
    fleet = await startFleet({ home: join(folder.path, 'home'), args: ['--controllers', 'none'] })
  }
})

afterAll(async () => {
  await fleet?.stop()
  folder.dispose()
})

describe('recorded answers of kube-apiserver', () => {
  it.for(scenarios)('%s', { timeout: 120_000 }, (scenario, context) => {
    if (fleet === undefined) return context.skip('the recordings are not on this machine')
    const server = `https://127.0.0.1:${fleet.port + 1}`
    expect(replay(scenario, { server, ...credentials(fleet.kubeconfig) })).toMatch(allAgree)
  })
})
