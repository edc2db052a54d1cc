/** Sends a request, and says what is wrong with the answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiAnswer, type ApiClient, apiClient } from '../../support/api-client.ts'
import type { Case } from './cases.ts'
import type { Server } from './target.ts'

const patienceMs = 20_000

export class Clients {
  readonly #servers: readonly Server[]
  readonly #clients = new Map<string, ApiClient>()

  constructor(servers: readonly Server[]) {
    this.#servers = servers
  }

  of({ server, protocol }: Pick<Case, 'server' | 'protocol'>): ApiClient {
    const name = `${server} ${protocol}`
    const known = this.#clients.get(name)
    if (known !== undefined) return known
    const found = this.#servers.find(one => one.name === server)
    if (found === undefined) throw new Error(`there is no server ${server}`)
    const made = apiClient(protocol, found)
    this.#clients.set(name, made)
    return made
  }

  /** After an error a connection may be gone. */
  async reset(): Promise<void> {
    await this.close()
    this.#clients.clear()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.values()].map(client => client.close()))
  }
}

/** The client itself refuses to send what is no request of HTTP. */
export function isUnsent(fault: Error): boolean {
  return (
    'code' in fault &&
    /^ERR_(UNESCAPED_CHARACTERS|INVALID_CHAR|HTTP2_INVALID|INVALID_HTTP)/.test(String(fault.code))
  )
}

/** Undefined when all is well. Rejects when the connection ended without an answer. */
export async function faultOf(clients: Clients, sent: Case): Promise<string | undefined> {
  const { method, path, headers, body } = sent
  const bytes = Buffer.from(body, 'base64')
  const call = { method, headers, ...(bytes.length === 0 ? {} : { body: bytes }) }
  const late = new AbortController()
  const answered = clients.of(sent).send(path, call)
  const answer = await Promise.race([
    answered,
    sleep(patienceMs, undefined, { signal: late.signal }).catch(() => undefined),
  ]).finally(() => late.abort())
  return answer === undefined ? `no answer within ${patienceMs} ms` : faultIn(sent, answer)
}

function faultIn(sent: Case, answer: ApiAnswer): string | undefined {
  const { status, text } = answer
  if (status >= 500) return `${status}: ${text.slice(0, 500)}`
  if (sent.method === 'HEAD' || status === 304) return undefined
  return status >= 400 ? (faultInStatus(answer) ?? faultInWords(sent, answer)) : faultInObject(answer)
}

type Document = {
  readonly kind?: unknown
  readonly code?: unknown
  readonly message?: unknown
  readonly apiVersion?: unknown
}

/** What a program prints of what it did not look at. */
const slips = /\bundefined\b|\[object \w+\]|\bNaN\b/

/** A client that sends such a word may read it again. */
function faultInWords({ path, body }: Case, { json, text }: ApiAnswer): string | undefined {
  const { message = text } = (json ?? {}) as Document
  const found = slips.exec(String(message))
  const isTheirs = found === null || slips.test(path) || slips.test(Buffer.from(body, 'base64').toString())
  return isTheirs ? undefined : `a message with ${found[0]}: ${text.slice(0, 500)}`
}

/** A Status that says the code of the answer, as JSON or as YAML. */
function faultInStatus({ status, json, headers, text }: ApiAnswer): string | undefined {
  if (headers['content-type'] === 'application/yaml') {
    return text.includes(`\ncode: ${status}\n`)
      ? undefined
      : `a ${status} without its code: ${text.slice(0, 200)}`
  }
  const { kind, code, message } = (json ?? {}) as Document
  const isStatus = kind === 'Status' && code === status && typeof message === 'string'
  return isStatus ? undefined : `a ${status} that is no Status: ${text.slice(0, 200)}`
}

function faultInObject({ status, json, headers, text }: ApiAnswer): string | undefined {
  const { 'content-type': type } = headers
  if (type !== 'application/json' || /^\{"type":"/.test(text) || text === '') return undefined
  if (typeof json === 'object' && json !== null) return undefined
  return `a ${status} that is no object: ${text.slice(0, 200)}`
}
