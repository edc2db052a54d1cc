/**
 * The last known services on disk, so that a responder that starts while its API server is away has something to say. A
 * header line, one line a service, and a line with their number and digest; what is cut short or changed is refused whole.
 * The file's modification time says until when it was known to be current.
 */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isMissing } from '../../src/kernel/errors.ts'
import type { ServiceFacts, ServiceKey, ServiceSource } from '../contract.ts'

const header = { format: 'isthmus-dns-services', version: 1 }
/** Lines written in one turn. */
const linesPerWrite = 256

export type Head = {
  readonly serial: number
  /** Whose services they are. */
  readonly cluster: string
}

export type Stored = Pick<Head, 'serial'> & {
  /** Undefined where the file does not say. */
  readonly cluster: string | undefined
  readonly services: readonly ServiceFacts[]
  readonly currentAtMs: number
}

/** Undefined when there is no such file; throws when it is not one of ours, or not whole. */
export async function readServices(file: string): Promise<Stored | undefined> {
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    if (isMissing(thrown)) return undefined
    throw thrown
  })
  if (text === undefined) return undefined
  const lines = text.split('\n')
  const [first = '', ...rest] = lines.slice(0, -1)
  const last = rest.pop() ?? ''
  const head: unknown = JSON.parse(first)
  if (!isHeader(head)) throw new Error(`${file} is not a file of services of version ${header.version}`)
  if (last !== footer(rest.length, digestOf([first, ...rest]))) throw new Error(`${file} is not whole`)
  // The digest says that these are the lines that were written.
  const services = rest.map(line => JSON.parse(line) as ServiceFacts)
  const { serial, cluster } = head
  return { serial, cluster, services, currentAtMs: (await stat(file)).mtimeMs }
}

function isHeader(value: unknown): value is Pick<Stored, 'serial' | 'cluster'> {
  return (
    typeof value === 'object' &&
    value !== null &&
    'format' in value &&
    value.format === header.format &&
    'version' in value &&
    value.version === header.version &&
    'serial' in value &&
    Number.isInteger(value.serial) &&
    (!('cluster' in value) || typeof value.cluster === 'string')
  )
}

function digestOf(lines: readonly string[]): string {
  const hash = createHash('sha256')
  for (const line of lines) hash.update(line).update('\n')
  return hash.digest('hex')
}

function footer(services: number, sha256: string): string {
  return JSON.stringify({ services, sha256 })
}

/** Replaces the file in one step: whoever reads sees the old or the new one. */
export async function writeServices(
  file: string,
  head: Head,
  services: Iterable<ServiceFacts>,
): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    await writeLines(temporary, head, services)
    await rename(temporary, file)
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}

async function writeLines(file: string, head: Head, services: Iterable<ServiceFacts>): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    const hash = createHash('sha256')
    let count = -1
    let pending: string[] = []
    const write = async (): Promise<void> => {
      const text = pending.join('')
      pending = []
      hash.update(text)
      await handle.writeFile(text)
    }
    for (const value of prefixed({ ...header, ...head }, services)) {
      count++
      pending.push(`${JSON.stringify(value)}\n`)
      if (pending.length === linesPerWrite) await write()
    }
    await write()
    await handle.writeFile(`${footer(count, hash.digest('hex'))}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function* prefixed(first: unknown, rest: Iterable<unknown>): Generator<unknown> {
  yield first
  yield* rest
}

/** Says that what the file holds is still current; false when it is not there any more. */
export async function touchServices(file: string, nowMs: number): Promise<boolean> {
  try {
    await utimes(file, nowMs / 1000, nowMs / 1000)
    return true
  } catch (thrown) {
    if (isMissing(thrown)) return false
    throw thrown
  }
}

/** Services that do not change. */
export function storedServices(services: readonly ServiceFacts[]): ServiceSource {
  const byKey = new Map<ServiceKey, ServiceFacts>(
    services.map(facts => [`${facts.namespace}/${facts.name}`, facts]),
  )
  return {
    synced: Promise.resolve(),
    keys: () => byKey.keys(),
    facts: key => byKey.get(key),
    onChange: () => undefined,
  }
}
