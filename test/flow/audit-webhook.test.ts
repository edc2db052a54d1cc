// Audit events of a real server, sent to a real one over TLS.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { type HttpsServer, httpsServer } from '../support/https-server.ts'
import { adminOf, listenAt, type RoleProcess, startRole } from '../support/role-process.ts'

type Event = {
  readonly kind: string
  readonly stage: string
  readonly verb: string
  readonly auditID: string
  readonly user: { readonly username: string }
  readonly requestURI: string
}
type EventList = { readonly kind: string; readonly apiVersion: string; readonly items: readonly Event[] }

const policy = '{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}'
const path = '/api/v1/namespaces/default/configmaps'

describe('the audit webhook', () => {
  const folder = temporaryFolder()
  const lists: EventList[] = []
  let count = 0
  let status: number
  let collector: HttpsServer
  let server: RoleProcess
  let client: ApiClient

  beforeAll(async () => {
    collector = await httpsServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        if (status === 200) lists.push(JSON.parse(Buffer.concat(chunks).toString()))
        response.writeHead(status).end()
      })
    })
    writeFileSync(join(folder.path, 'policy.yaml'), policy)
    const base64 = (pem: string): string => Buffer.from(pem).toString('base64')
    const { authority, client: own } = collector
    const kubeconfig = {
      'current-context': 'audit',
      contexts: [{ name: 'audit', context: { cluster: 'audit', user: 'audit' } }],
      clusters: [
        {
          name: 'audit',
          cluster: {
            server: `${collector.url}/events?of=hub`,
            'certificate-authority-data': base64(authority.certificate),
          },
        },
      ],
      users: [
        {
          name: 'audit',
          user: { 'client-certificate-data': base64(own.certificate), 'client-key-data': base64(own.key) },
        },
      ],
    }
    writeFileSync(join(folder.path, 'audit.kubeconfig'), JSON.stringify(kubeconfig))
  })
  beforeEach(() => {
    status = 200
    lists.length = 0
  })
  afterEach(async () => {
    await client.close()
    await server.stop()
  })
  afterAll(async () => {
    await collector.close()
    folder.dispose()
  })

  async function start(...more: readonly string[]): Promise<void> {
    const home = join(folder.path, `home-${count++}`)
    const port = await freePorts()
    const flags = [
      ...['--audit-policy-file', join(folder.path, 'policy.yaml')],
      ...['--audit-webhook-config-file', join(folder.path, 'audit.kubeconfig')],
      ...['--audit-webhook-initial-backoff', '10ms', ...more],
    ]
    server = await startRole(['hub', ...listenAt(home, port), '--controllers', 'none', ...flags])
    client = apiClient('HTTP/2', adminOf(home, port))
  }

  const told = (verb: string): readonly Event[] =>
    lists
      .flatMap(({ items }) => items)
      .filter(
        event => event.user.username === 'admin' && event.verb === verb && event.requestURI.startsWith(path),
      )

  async function create(name: string): Promise<number> {
    const body = JSON.stringify({ metadata: { name } })
    const headers = { 'content-type': 'application/json' }
    return (await client.send(path, { method: 'POST', headers, body })).status
  }

  async function metric(name: string): Promise<number> {
    const { text } = await client.send('/metrics')
    return Number(new RegExp(`^${RegExp.escape(name)} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }

  it('gets every event, many at a time, from whom its kubeconfig names', async () => {
    await start('--audit-webhook-batch-max-wait', '200ms')
    const names = Array.from({ length: 50 }, (_, at) => `n${at}`)
    expect(new Set(await Promise.all(names.map(create)))).toEqual(new Set([201]))
    await eventually(() => expect(told('create')).toHaveLength(100))
    expect(new Set(told('create').map(({ auditID }) => auditID)).size).toBe(50)
    expect(lists.length).toBeLessThan(50)
    for (const { kind, apiVersion, items } of lists) {
      expect([kind, apiVersion]).toEqual(['EventList', 'audit.k8s.io/v1'])
      expect(items.every(item => item.kind === 'Event')).toBe(true)
    }
    expect(new Set(collector.asked)).toEqual(new Set(['POST /events?of=hub by ada']))
  }, 60_000)

  it('costs events, and no request, when it is away', async () => {
    status = 500
    await start('--audit-webhook-batch-max-wait', '10ms', '--audit-webhook-batch-buffer-size', '10')
    expect(await create('a')).toBe(201)
    await eventually(async () => {
      expect(await metric('apiserver_audit_error_total{plugin="webhook"}')).toBeGreaterThan(0)
    })
    await Promise.all(Array.from({ length: 200 }, (_, at) => create(`b${at}`)))
    await eventually(async () => {
      expect(await metric('apiserver_audit_error_total{plugin="buffered"}')).toBeGreaterThan(0)
    })
    expect(server.output.some(line => line.includes('the audit webhook has not taken events'))).toBe(true)
    status = 200
    await eventually(async () => {
      expect(await create(`c${Math.random()}`)).toBe(201)
      expect(told('create')).not.toHaveLength(0)
    })
  }, 60_000)

  it('sends what waits when the server stops', async () => {
    await start('--audit-webhook-batch-max-wait', '10m')
    expect(await create('a')).toBe(201)
    expect(told('create')).toEqual([])
    await client.close()
    expect(await server.stop()).toBe(0)
    expect(told('create').map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete'])
  }, 60_000)

  it('has seen all of a request before it is answered where that is asked for', async () => {
    await start('--audit-webhook-mode', 'blocking')
    for (const name of ['a', 'b', 'c']) {
      expect(await create(name)).toBe(201)
      expect(told('create')).toHaveLength(2)
      lists.length = 0
    }
    status = 400
    expect(await create('d')).toBe(201)
    expect(await metric('apiserver_audit_error_total{plugin="webhook"}')).toBeGreaterThanOrEqual(2)
  }, 60_000)
})
