import { describe, expect, it } from 'vitest'
import type { ApiRequest, Handler, Reply } from '../../../../apiservice/contract.ts'
import { fairness, type InFlightLimits } from '../../../../apiservice/fairness/stage.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { type ApiRequestOptions, anApiRequest, aResourceInfo } from '../../../support/api-request.ts'
import { WidgetKind } from '../../../support/kinds.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const done: Reply = { type: 'raw', code: 200, headers: {}, body: '' }
const user = (name: string, ...groups: readonly string[]) => ({ name, groups, extra: {} })
const get = { info: aResourceInfo({ verb: 'get' }) }
const list = { info: aResourceInfo({ verb: 'list' }) }
const create = { info: aResourceInfo({ verb: 'create' }) }
const lease = (verb: 'update' | 'list') => ({
  info: aResourceInfo({ verb, group: 'coordination.k8s.io', resource: 'leases' }),
})

const listOf = (objects: number): Reply => ({
  type: 'list',
  served: { kind: WidgetKind, version: 'v1' },
  items: Array.from({ length: objects }, (_, i) => ({
    revision: 1,
    resource: 'widgets',
    namespace: '',
    name: `w-${i}`,
    body: Buffer.from('{}'),
  })),
  revision: 1,
})

/** Requests wait inside until they are let go; `answer` is what they get then. */
function scene(limits: InFlightLimits, answer: (request: ApiRequest) => Reply = () => done) {
  const clock = manualClock()
  const metrics = prometheus()
  const inside: { readonly request: ApiRequest; go(): void; fail(): void }[] = []
  const hangs: Handler = request =>
    new Promise((resolve, reject) =>
      inside.push({ request, go: () => resolve(answer(request)), fail: () => reject(new Error('no')) }),
    )
  const handler = fairness({ clock, metrics, limits })(hangs)
  const send = (options: ApiRequestOptions = {}, signal = never): Promise<unknown> =>
    Promise.try(handler, anApiRequest({ user: user('a'), ...options }), signal).catch(
      (thrown: unknown) => thrown,
    )
  return {
    clock,
    metrics,
    inside,
    send,
    /** How many of these are inside now. */
    letIn: async (times: number, options: ApiRequestOptions): Promise<number> => {
      const before = inside.length
      for (let i = 0; i < times; i++) void send(options)
      await settled()
      return inside.length - before
    },
  }
}

describe('fairness', () => {
  it('counts reads and writes apart, and of each client no more than a quarter', async () => {
    const { letIn } = scene({ readOnly: 8, mutating: 4 })
    expect(await letIn(5, get)).toBe(2)
    expect(await letIn(5, create)).toBe(1)
    expect(await letIn(5, { ...get, user: user('b') })).toBe(2)
  })

  it('never keeps system:masters and probes waiting', async () => {
    const { letIn } = scene({ readOnly: 1, mutating: 1 })
    await letIn(3, get)
    await letIn(3, create)
    expect(await letIn(9, { ...create, user: user('root', 'system:masters') })).toBe(9)
    for (const path of ['/livez', '/readyz', '/healthz', '/readyz/store']) {
      expect(await letIn(3, { path, user: user('system:anonymous') })).toBe(3)
    }
    expect(await letIn(3, { path: '/livezz' })).toBe(0)
  })

  it('lets heartbeats through when writes wait, and not what only looks like them', async () => {
    const { letIn } = scene({ readOnly: 1, mutating: 1 })
    await letIn(3, create)
    await letIn(3, get)
    expect(await letIn(3, lease('update'))).toBe(3)
    expect(await letIn(3, lease('list'))).toBe(0)
  })

  it('bounds heartbeats too: a client has no more than ten under way', async () => {
    const { letIn } = scene({ readOnly: 1, mutating: 1 })
    expect(await letIn(30, lease('update'))).toBe(10)
    expect(await letIn(1, { ...lease('update'), user: user('b') })).toBe(1)
  })

  it('refuses with 429 beyond the queue of the client, and not the others', async () => {
    const { letIn, send } = scene({ readOnly: 4, mutating: 4 })
    await letIn(1 + 4, get)
    expect(await send(get)).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      details: { retryAfterSeconds: 1 },
    })
    expect(await letIn(1, { ...get, user: user('b') })).toBe(1)
  })

  it('has room again after an answer and after a failure', async () => {
    const { inside, letIn } = scene({ readOnly: 4, mutating: 4 })
    expect(await letIn(3, get)).toBe(1)
    inside[0]?.go()
    await settled()
    inside[1]?.fail()
    await settled()
    expect(inside).toHaveLength(3)
  })

  it('has room again after what was answered, or failed, at once', async () => {
    const metrics = prometheus()
    const answers: readonly (() => Reply | Promise<Reply>)[] = [
      () => done,
      () => listOf(3),
      () => Promise.reject(new Error('no')),
    ]
    let asked = 0
    const handler = fairness({ clock: manualClock(), metrics, limits: { readOnly: 4, mutating: 4 } })(() => {
      const answer = answers[asked++ % 4]
      if (answer === undefined) throw new Error('at once')
      return answer()
    })
    for (let i = 0; i < 40; i++) {
      const info = i % 2 === 0 ? list : create
      await Promise.try(handler, anApiRequest({ user: user('a'), ...info }), never).catch(() => undefined)
    }
    expect(asked).toBe(40)
    expect(await metrics.text()).toMatch(/apiserver_current_inflight_requests\{request_kind="mutating"\} 0\n/)
  })

  it('counts a watch until it has begun', async () => {
    const watch: Reply = { type: 'watch', served: { kind: WidgetKind, version: 'v1' }, open: () => undefined }
    const { inside, letIn } = scene({ readOnly: 4, mutating: 4 }, () => watch)
    expect(await letIn(2, { info: aResourceInfo({ verb: 'watch' }) })).toBe(1)
    inside[0]?.go()
    await settled()
    expect(inside).toHaveLength(2)
  })

  describe('a long list', () => {
    const long = (objects: number) => scene({ readOnly: 40, mutating: 4 }, () => listOf(objects))

    it('has a seat for every hundred objects until it is sent', async () => {
      const { inside, letIn } = long(350)
      await letIn(1, list)
      inside[0]?.go()
      await settled()
      expect(await letIn(10, get)).toBe(6)
      inside[0]?.request.notes.whenSent?.()
      await settled()
      expect(inside).toHaveLength(1 + 10)
    })

    it('is known by the one before: as many are not begun at once', async () => {
      const { inside, letIn } = long(5_000)
      await letIn(1, list)
      inside[0]?.go()
      await settled()
      inside[0]?.request.notes.whenSent?.()
      expect(await letIn(3, list)).toBe(1)
      expect(await letIn(1, { ...list, user: user('b'), query: new URLSearchParams('limit=20') })).toBe(1)
      expect(await letIn(9, { ...get, user: user('b') })).toBe(9)
    })

    it('gives its seats back when it is read too slowly, and when the client has gone', async () => {
      const { clock, inside, letIn, send } = long(5_000)
      await letIn(2, list)
      inside[0]?.go()
      await settled()
      await clock.advance(10_000)
      expect(await letIn(1, get)).toBe(1)
      const gone = new AbortController()
      const answer = send(list, gone.signal)
      gone.abort()
      inside.at(-1)?.go()
      await answer
      expect(clock.pending).toBe(0)
    })
  })

  it('tells of its levels under the names of kube-apiserver', async () => {
    const { inside, letIn, metrics, send } = scene({ readOnly: 4, mutating: 8 })
    await letIn(3, get)
    await letIn(3, { ...create, user: user('root', 'system:masters') })
    for (let i = 0; i < 2; i++) await letIn(1, get)
    await send(get)
    inside.shift()?.go()
    await settled()
    const lines = (await metrics.text())
      .split('\n')
      .filter(line => /^[^#]/.test(line) && !/ 0$|_bucket|_sum/.test(line))
    expect(
      lines.map(line => line.replace('apiserver_', '').replace(/flow_schema="[a-z-]+",?/, '')),
    ).toMatchInlineSnapshot(`
      [
        "current_inflight_requests{request_kind="readOnly"} 1",
        "current_inflight_requests{request_kind="mutating"} 3",
        "flowcontrol_nominal_limit_seats{priority_level="leader-election"} 40",
        "flowcontrol_nominal_limit_seats{priority_level="readonly"} 4",
        "flowcontrol_nominal_limit_seats{priority_level="mutating"} 8",
        "flowcontrol_current_executing_requests{priority_level="exempt",} 3",
        "flowcontrol_current_executing_requests{priority_level="readonly",} 1",
        "flowcontrol_current_executing_seats{priority_level="exempt",} 3",
        "flowcontrol_current_executing_seats{priority_level="readonly",} 1",
        "flowcontrol_current_inqueue_requests{priority_level="readonly",} 3",
        "flowcontrol_dispatched_requests_total{priority_level="exempt",} 3",
        "flowcontrol_dispatched_requests_total{priority_level="readonly",} 2",
        "flowcontrol_rejected_requests_total{priority_level="readonly",reason="queue-full"} 1",
        "flowcontrol_request_wait_duration_seconds_count{priority_level="exempt",execute="true"} 3",
        "flowcontrol_request_wait_duration_seconds_count{priority_level="readonly",execute="true"} 2",
        "flowcontrol_request_wait_duration_seconds_count{priority_level="readonly",execute="false"} 1",
      ]
    `)
  })
})
