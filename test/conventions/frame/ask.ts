import type { ApiClient } from '../../support/api-client.ts'

export type Ask = {
  readonly method?: string
  /** Sent as JSON unless it is text or bytes. */
  readonly body?: unknown
  readonly type?: string
  readonly accept?: string
  readonly agent?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Answer = {
  readonly code: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The document, undefined when the text is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
  /** The texts of the Warning headers. */
  readonly warnings: readonly string[]
}

export async function asking(client: ApiClient, path: string, ask: Ask): Promise<Answer> {
  const { method = 'GET', body, type = 'application/json', accept, agent = 'tester/1.0' } = ask
  const answer = await client.send(path, {
    method,
    headers: {
      'user-agent': agent,
      ...(accept === undefined ? {} : { accept }),
      ...(body === undefined || type === '' ? {} : { 'content-type': type }),
      ...ask.headers,
    },
    ...(body === undefined ? {} : { body: bytesOf(body) }),
  })
  const { warning = '' } = answer.headers
  return {
    code: answer.status,
    headers: answer.headers,
    text: answer.text,
    body: answer.json,
    warnings: warningsIn(warning),
  }
}

function bytesOf(body: unknown): string | Buffer {
  return typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
}

/** `299 - "text"`, with quotes and backslashes escaped; several are joined by commas. */
function warningsIn(header: string): readonly string[] {
  return [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) =>
    text.replace(/\\(.)/g, '$1'),
  )
}
