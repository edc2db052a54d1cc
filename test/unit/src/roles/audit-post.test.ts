import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { never } from '../../../../src/kernel/abort.ts'
import { type AuditPost, auditPost } from '../../../../src/roles/audit-post.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { eventually } from '../../../support/eventually.ts'
import { type HttpsServer, httpsServer } from '../../../support/https-server.ts'
import { manualClock } from '../../../support/manual-clock.ts'

describe('a post of audit events', () => {
  const clock = manualClock()
  let server: HttpsServer
  let stalls: boolean
  let one: AuditPost
  let metrics: ReturnType<typeof prometheus>
  beforeEach(async () => {
    stalls = false
    metrics = prometheus({ processMetrics: false })
    server = await httpsServer((_request, response) => {
      response.writeHead(200)
      if (stalls) response.write('{')
      else response.end()
    })
  })
  afterEach(async () => {
    one.close()
    await server.close()
  })

  function to(path: string): AuditPost {
    const { authority, client, url } = server
    const own = { ca: authority.certificate, cert: client.certificate, key: client.key }
    one = auditPost({ servers: [`${url}${path}`], credentials: async () => own, clock, metrics })
    return one
  }

  it.each([
    ['/events?of=hub', '/events?of=hub'],
    ['/?key=x', '/?key=x'],
    ['?key=x', '/?key=x'],
    ['', '/'],
  ])('goes to the address %j as %s', async (address, target) => {
    expect(await to(address).post('{}', never)).toBe(200)
    expect(server.asked).toEqual([`POST ${target} by ada`])
  })

  it('is given up when the head of its answer is there and the rest is not', async () => {
    stalls = true
    const posting = to('/').post('{}', never)
    const failed = expect(posting).rejects.toThrow('no whole answer within 30 s')
    await eventually(async () =>
      expect(await metrics.text()).toMatch(/rest_client_requests_total\{code="200"/),
    )
    await clock.advance(30_000)
    await failed
  })
})
