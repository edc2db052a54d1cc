/**
 * What can be set, said once: `clusterId` is the flag `--cluster-id`, the environment variable `ISTHMUS_CLUSTER_ID` and
 * the key `cluster-id` of the config file. A flag wins over the environment, that over the file, that over the default.
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { clusterIdProblem } from '../api/cluster-id.ts'
import { bitsOf, parseAddress, textOf } from '../ip/address.ts'
import { overlaps, parseCidr } from '../ip/cidr.ts'
import { errorText } from '../kernel/abort.ts'

export type Setting<T> = {
  /** What stands for the value in `--help`. */
  readonly placeholder: string
  readonly description: string
  /** Absent: it has to be given, unless `optional`. */
  readonly default?: string
  readonly optional?: boolean
  /** Throws an `Error` that says what the value must be; the name and the value are added by the caller. */
  parse(text: string): T
}

export type Settings = Readonly<Record<string, Setting<unknown>>>

export type Values<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never
}

export type Words = { readonly placeholder: string; readonly description: string; readonly default?: string }

const maxListed = 1000

/** Undefined when it is not given. */
export function optional<T>({ default: _default, ...setting }: Setting<T>): Setting<T | undefined> {
  return { ...setting, optional: true }
}

export function text(words: Words): Setting<string> {
  return {
    ...words,
    parse: value => {
      if (value === '') throw new Error('must not be empty')
      return value
    },
  }
}

export function integer(words: Words, minimum: number, maximum: number): Setting<number> {
  return {
    ...words,
    parse: value => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      if (number >= minimum && number <= maximum) return number
      throw new Error(`must be a whole number from ${minimum} to ${maximum}`)
    },
  }
}

export function oneOf<const V extends readonly string[]>(words: Words, values: V): Setting<V[number]> {
  return {
    ...words,
    parse: value => {
      const found = values.find(v => v === value)
      if (found === undefined) throw new Error(`must be one of ${values.join(', ')}`)
      return found
    },
  }
}

const unitsMs: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** `90s`, `5m`, `1h30m`, at most `longest` and at least `shortest`: milliseconds. */
export function duration(words: Words, longest?: string, shortest = '0s'): Setting<number> {
  const minimum = durationMs(shortest)
  const maximum = longest === undefined ? Number.POSITIVE_INFINITY : durationMs(longest)
  return {
    ...words,
    parse: value => {
      const ms = durationMs(value)
      if (Number.isNaN(ms)) throw new Error('must be a duration such as 90s, 5m or 1h30m')
      if (ms < minimum) throw new Error(`must be at least ${shortest}`)
      if (ms > maximum) throw new Error(`must be at most ${longest}`)
      return ms
    },
  }
}

/** NaN when it is none. */
function durationMs(text: string): number {
  if (text.length > 40 || !/^(\d{1,9}(ms|s|m|h|d))+$/.test(text)) return Number.NaN
  const parts = [...text.matchAll(/(?<!\d)(\d+)(ms|s|m|h|d)/g)]
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (unitsMs.get(unit ?? '') ?? 0), 0)
}

/** Takes no value that `isTaken`, which `why` says. */
export function except<T>(setting: Setting<T>, isTaken: (value: T) => boolean, why: string): Setting<T> {
  return {
    ...setting,
    parse: value => {
      const parsed = setting.parse(value)
      if (isTaken(parsed)) throw new Error(why)
      return parsed
    },
  }
}

/** Values with commas between them, none twice. */
export function listOf<T>(item: Setting<T>, maximum = maxListed): Setting<readonly T[]> {
  return {
    ...item,
    parse: value => {
      const parts = value.split(',').map(part => part.trim())
      if (parts.length > maximum) throw new Error(`must name at most ${maximum}`)
      const twice = parts.find((part, at) => parts.indexOf(part) !== at)
      if (twice !== undefined) throw new Error(`must not name "${twice}" twice`)
      return parts.map(part => item.parse(part))
    },
  }
}

export function clusterId(words: Words): Setting<string> {
  return {
    ...words,
    parse: value => {
      const problem = clusterIdProblem(value)
      if (problem !== undefined) throw new Error(problem)
      return value
    },
  }
}

export function cidr(words: Words): Setting<string> {
  return {
    ...words,
    parse: value => {
      if (parseCidr(value) !== undefined) return value
      const around = blockAround(value)
      const better =
        around === undefined ? ' such as 10.0.0.0/16' : `, and ${value} is an address in ${around}`
      throw new Error(`must be blocks of addresses${better}`)
    },
  }
}

/** The block that a text with bits behind its prefix was meant to be; undefined when it is something else. */
function blockAround(value: string): string | undefined {
  const [head = '', length = ''] = value.split('/')
  const address = parseAddress(head)
  if (address === undefined || !/^\d{1,3}$/.test(length)) return undefined
  const hostBits = BigInt(bitsOf[address.family] - Number(length))
  if (hostBits < 0n) return undefined
  const first = (address.value >> hostBits) << hostBits
  return parseCidr(`${textOf(address.family, first)}/${Number(length)}`)?.text
}

/** Blocks of addresses that do not overlap, at most `ofFamily` of each family. */
export function cidrs(words: Words, ofFamily = maxListed): Setting<readonly string[]> {
  const list = listOf(cidr(words))
  return {
    ...list,
    parse: value => {
      const texts = list.parse(value)
      const blocks = texts.map(parseCidr).filter(block => block !== undefined)
      for (const [at, block] of blocks.entries()) {
        const earlier = blocks.slice(0, at)
        const other = earlier.find(known => overlaps(known, block))
        if (other !== undefined) throw new Error(`must not hold ${block.text}, which overlaps ${other.text}`)
        if (earlier.filter(known => known.family === block.family).length < ofFamily) continue
        throw new Error(`must hold at most ${ofFamily} block${ofFamily === 1 ? '' : 's'} of ${block.family}`)
      }
      return texts
    },
  }
}

export function ipAddress(words: Words): Setting<string> {
  return {
    ...words,
    parse: value => {
      if (isIP(value) === 0) throw new Error('must be an IP address')
      return value
    },
  }
}

const longestName = 253

/** Labels of letters, digits, `-` and `_`, with or without the final dot. */
export function dnsName(words: Words): Setting<string> {
  return {
    ...words,
    parse: value => {
      const name = value.replace(/\.$/, '')
      if (name.length <= longestName && name.split('.').every(label => /^[\w-]{1,63}$/.test(label)))
        return value
      throw new Error('must be a DNS name')
    },
  }
}

/** A file that is there; the value is its text. */
export function file(words: Words): Setting<string> {
  return {
    ...words,
    parse: path => {
      try {
        return readFileSync(path, 'utf8')
      } catch (thrown) {
        throw new Error(`must be a file that can be read (${errorText(thrown)})`)
      }
    },
  }
}

/** `host:port`; the value is `https://host:port`. */
export function address(words: Words): Setting<string> {
  return {
    ...words,
    parse: value => {
      const server = `https://${value}`
      const url = URL.canParse(server) ? new URL(server) : undefined
      const bare = url?.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
      if (!bare || url.hostname === '') throw new Error('must be of the form host:port')
      return server
    },
  }
}

/** `namespace/name`, as a Service is called. */
export function service(words: Words): Setting<{ readonly namespace: string; readonly name: string }> {
  return {
    ...words,
    parse: value => {
      const [, namespace, name] = /^([a-z0-9][a-z0-9-]{0,62})\/([a-z][a-z0-9-]{0,62})$/.exec(value) ?? []
      if (namespace === undefined || name === undefined) throw new Error('must be of the form namespace/name')
      return { namespace, name }
    },
  }
}
