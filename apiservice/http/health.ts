/** `/livez`, `/readyz`, `/healthz` and single checks below them, as k8s.io/apiserver `healthz` answers them. */
import { errorText } from '../../src/kernel/abort.ts'
import { methodNotAllowed, noSuchPath } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { ApiRequest, Reply } from '../contract.ts'

export type HealthEndpoint = 'livez' | 'readyz' | 'healthz'

export type HealthCheck = {
  /** Lower case, as it stands in the path of the single check. */
  readonly name: string
  /** Where it is asked; `readyz` alone by default. */
  readonly endpoints?: readonly HealthEndpoint[]
  /** Throws or rejects when it fails. Must be quick and must not wait for other machines. */
  check(signal: AbortSignal): void | Promise<void>
}

const endpoints: readonly HealthEndpoint[] = ['livez', 'readyz', 'healthz']
const allEndpoints: readonly HealthEndpoint[] = endpoints

const ping: HealthCheck = { name: 'ping', endpoints: allEndpoints, check: () => undefined }

/** Answers a health path, or undefined for any other. */
export type HealthHandler = (request: ApiRequest, signal: AbortSignal) => Promise<Reply> | undefined

export function makeHealth(
  checks: readonly HealthCheck[],
  log: Logger,
): HealthHandler & { readonly paths: readonly string[] } {
  const all = [ping, ...checks]
  const failing = new Map<HealthEndpoint, string>()
  const handler = (request: ApiRequest, signal: AbortSignal): Promise<Reply> | undefined => {
    const [, endpoint, ...name] = request.path.split('/')
    const known = endpoints.find(e => e === endpoint)
    if (known === undefined) return undefined
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed()
    const asked = all.filter(check => (check.endpoints ?? ['readyz']).includes(known))
    const single = name.join('/')
    return single === ''
      ? askAll({ endpoint: known, checks: asked, request, signal, noteFailures })
      : askOne(
          asked.find(check => check.name === single),
          signal,
        )
  }
  /** Once for each change, not for each probe. */
  function noteFailures(endpoint: HealthEndpoint, failures: string): void {
    if (failures === (failing.get(endpoint) ?? '')) return
    failing.set(endpoint, failures)
    if (failures === '') log.info('health restored', { endpoint })
    else log.warn('health check failed', { endpoint, failures })
  }
  return Object.assign(handler, { paths: pathsOf(all) })
}

function pathsOf(checks: readonly HealthCheck[]): readonly string[] {
  return endpoints.flatMap(endpoint => [
    `/${endpoint}`,
    ...checks.filter(c => (c.endpoints ?? ['readyz']).includes(endpoint)).map(c => `/${endpoint}/${c.name}`),
  ])
}

type Asked = {
  readonly endpoint: HealthEndpoint
  readonly checks: readonly HealthCheck[]
  readonly request: ApiRequest
  readonly signal: AbortSignal
  noteFailures(endpoint: HealthEndpoint, failures: string): void
}

/** Why a check fails is for the log: anybody may ask. */
async function askAll({ endpoint, checks, request, signal, noteFailures }: Asked): Promise<Reply> {
  const excluded = new Set(request.query.getAll('exclude'))
  const failures: string[] = []
  const lines: string[] = []
  for (const check of checks) {
    if (excluded.delete(check.name)) {
      lines.push(`[+]${check.name} excluded: ok\n`)
      continue
    }
    const failure = await failureOf(check, signal)
    lines.push(failure === undefined ? `[+]${check.name} ok\n` : `[-]${check.name} failed: reason withheld\n`)
    if (failure !== undefined) failures.push(`${check.name}: ${failure}`)
  }
  if (excluded.size > 0) lines.push(unmatched(excluded))
  noteFailures(endpoint, failures.join('; '))
  if (failures.length > 0) return text(500, `${lines.join('')}${endpoint} check failed\n`)
  return text(200, request.query.has('verbose') ? `${lines.join('')}${endpoint} check passed\n` : 'ok')
}

function unmatched(names: ReadonlySet<string>): string {
  const quoted = [...names].map(name => JSON.stringify(name)).join(', ')
  return `warn: some health checks cannot be excluded: no matches for ${quoted}\n`
}

async function askOne(check: HealthCheck | undefined, signal: AbortSignal): Promise<Reply> {
  if (check === undefined) throw noSuchPath()
  const failure = await failureOf(check, signal)
  return failure === undefined ? text(200, 'ok') : text(500, `internal server error: ${failure}\n`)
}

async function failureOf(check: HealthCheck, signal: AbortSignal): Promise<string | undefined> {
  try {
    await check.check(signal)
    return undefined
  } catch (thrown) {
    return errorText(thrown)
  }
}

function text(code: number, body: string): Reply {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' }
  return { type: 'raw', code, headers, body }
}
