import { expect } from 'vitest'
import { type ApiAnswer, type ApiClient, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts } from '../support/fleet.ts'
import { adminOf, listenAt, type RoleProcess, startRole } from '../support/role-process.ts'
import type { SmallDisk } from './disk.ts'

export const exportsPath = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/default/serviceexports'
export const patienceMs = 60_000
export const unknown = {
  status: 503,
  headers: { 'retry-after': '1' },
  json: { reason: 'ServiceUnavailable' },
}

/** What is started, and what is written there. */
type Role = {
  readonly command: string
  readonly path: string
  readonly apiVersion: string
  readonly kind: string
}

const apiServer: Role = {
  command: 'apiserver',
  path: exportsPath,
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
}
export const hub: Role = {
  command: 'hub',
  path: '/api/v1/namespaces/default/configmaps',
  apiVersion: 'v1',
  kind: 'ConfigMap',
}

/** A server, and everything that it has answered. */
export class Served {
  readonly answered = new Map<string, number>()
  readonly home: string
  readonly #role: Role
  readonly #through: readonly string[]
  readonly #seen: (path: string) => string
  #port = 0
  #process: RoleProcess | undefined
  #client: ApiClient | undefined

  constructor(home: string, disk?: SmallDisk, role = apiServer) {
    this.home = home
    this.#role = role
    this.#through = disk?.through ?? []
    this.#seen = disk?.seen ?? (file => file)
  }

  get pid(): number {
    return this.#process?.pid ?? 0
  }

  get client(): ApiClient {
    if (this.#client === undefined) throw new Error('it has not been started')
    return this.#client
  }

  async start(...settings: readonly string[]): Promise<void> {
    this.#port = await freePorts()
    const args = [this.#role.command, ...listenAt(this.home, this.#port), ...settings]
    this.#process = await startRole(args, this.#through)
    this.#client = apiClient('HTTP/2', adminOf(this.#seen(this.home), this.#port))
  }

  async kill(): Promise<void> {
    await this.#client?.close()
    await this.#process?.kill()
  }

  async create(name: string, filling = ''): Promise<ApiAnswer> {
    const { path, apiVersion, kind } = this.#role
    const object = { apiVersion, kind, metadata: { name, annotations: { filling } } }
    const headers = { 'content-type': 'application/json' }
    const answer = await this.client.send(path, { method: 'POST', headers, body: JSON.stringify(object) })
    if (answer.status === 201) this.answered.set(name, versionOf(answer))
    return answer
  }

  /** Everything that was answered is there as it was, and the revision is not behind it. */
  async expectAll(): Promise<void> {
    const answer = await this.client.send(this.#role.path)
    expect(answer.status).toBe(200)
    expect(versionOf(answer)).toBeGreaterThanOrEqual(Math.max(...this.answered.values()))
    const { items } = answer.json as { items: Named[] } // a list has them
    const found = new Map(
      items.map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)] as const),
    )
    for (const [name, revision] of this.answered) expect([name, found.get(name)]).toEqual([name, revision])
  }

  async expectOnlyReads(fault: string): Promise<void> {
    expect(await this.create('refused')).toMatchObject({
      ...unknown,
      json: { message: `the store cannot write at the moment: ${fault}` },
    })
    expect(await this.client.send('/readyz/store')).toMatchObject({
      status: 500,
      text: expect.stringContaining(fault),
    })
    expect((await this.client.send('/livez')).status).toBe(200)
    await this.expectAll()
  }

  async expectHealed(): Promise<void> {
    await eventually(async () => expect((await this.create('healed')).status).toBe(201), patienceMs)
    expect((await this.client.send('/readyz')).status).toBe(200)
    await this.expectAll()
    await this.kill()
    await this.start()
    await this.expectAll()
  }
}

type Named = { readonly metadata: { readonly name: string; readonly resourceVersion: string } }

export function versionOf(answer: ApiAnswer): number {
  const { metadata } = answer.json as Named // an object or a list
  return Number(metadata.resourceVersion)
}
