import { tooManyRequests } from '../../src/kernel/errors.ts'
import type { Metrics } from '../../src/kernel/metrics.ts'
import type { ApiRequest, Stage } from '../contract.ts'

const mutating: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection'])

export type InFlightLimits = { readonly readOnly: number; readonly mutating: number }

/** kube-apiserver's --max-requests-inflight and --max-mutating-requests-inflight. */
export const defaultLimits: InFlightLimits = { readOnly: 400, mutating: 200 }

/** Refuses with 429 what would be too much at once. Watches are not counted, system:masters are never refused. */
export function maxInFlight(metrics: Metrics, limits: InFlightLimits = defaultLimits): Stage {
  const running = { readOnly: 0, mutating: 0 }
  metrics.gaugeFrom(
    {
      name: 'apiserver_current_inflight_requests',
      help: 'Requests under way, watches excepted.',
      labels: ['request_kind'],
    },
    () => Object.entries(running).map(([kind, value]) => ({ labels: { request_kind: kind }, value })),
  )
  return next => async (request, signal) => {
    if (request.info.verb === 'watch') return next(request, signal)
    const kind = mutating.has(request.info.verb) ? 'mutating' : 'readOnly'
    if (running[kind] >= limits[kind] && !isExempt(request)) {
      throw tooManyRequests('Too many requests, please try again later.', 1)
    }
    running[kind]++
    try {
      return await next(request, signal)
    } finally {
      running[kind]--
    }
  }
}

function isExempt(request: ApiRequest): boolean {
  return request.user.groups.includes('system:masters')
}
