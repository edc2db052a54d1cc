// What is measured, and what our share or multiple of the others has to be.
import type { Job, Server } from './job.ts'
import { namespaceNames } from './targets.ts'

/** Least ratios of ours: to CRDs, to the bare server, and to the bare server with both behind an aggregator. */
export type Floors = { readonly crds: number; readonly bare: number; readonly aggregated: number }

export type Size = {
  readonly rounds: number
  readonly durationMs: number
  readonly small: number
  readonly large: number
  readonly watchers: readonly number[]
}

export const wholeSize: Size = {
  rounds: 5,
  durationMs: 1_200,
  small: 3_000,
  large: 10_000,
  watchers: [100, 1_000],
}

/** Enough to see that it runs and is answered right. */
export const shortSize: Size = {
  rounds: 1,
  durationMs: 300,
  small: 600,
  large: 1_200,
  watchers: [100],
}

export type Case = {
  readonly what: string
  readonly floors: Floors
  job(server: Server, durationMs: number, round: number): Job
}

const written: Floors = { crds: 5, bare: 0.5, aggregated: 0.75 }
const read: Floors = { crds: 5, bare: 0.6, aggregated: 0.75 }
const listed: Floors = { crds: 12, bare: 0.7, aggregated: 0.75 }
const watched: Floors = { crds: 4, bare: 0.7, aggregated: 0.75 }

const clients = 32
const readers = 4

export function casesOf(size: Size): readonly Case[] {
  return [...onOne(size), ...onMany(size), ...size.watchers.map(watchers => watchCase(size, watchers))]
}

function onOne({ small }: Size): readonly Case[] {
  const objects = { namespace: namespaceNames.small, count: small, clients }
  return [
    {
      what: 'create/s',
      floors: written,
      job: (server, durationMs, round) => {
        const { fresh: namespace } = namespaceNames
        return { type: 'create', server, durationMs, clients, namespace, prefix: `new-${round}` }
      },
    },
    {
      what: 'get/s',
      floors: read,
      job: (server, durationMs) => ({ type: 'get', server, durationMs, ...objects }),
    },
    {
      what: 'get + replace, pairs/s',
      floors: written,
      job: (server, durationMs) => ({ type: 'pair', server, durationMs, ...objects }),
    },
    {
      what: 'status merge patch/s',
      floors: written,
      job: (server, durationMs) => ({ type: 'patch', server, durationMs, ...objects }),
    },
  ]
}

function onMany({ small, large }: Size): readonly Case[] {
  const sizes = [
    { namespace: namespaceNames.small, count: small },
    { namespace: namespaceNames.large, count: large },
  ]
  const forms = [
    { type: 'list', what: 'full lists' },
    { type: 'paged', what: 'lists in pages of 500' },
    { type: 'table', what: 'Tables' },
  ] as const
  return sizes.flatMap(objects =>
    forms.map(
      ({ type, what }): Case => ({
        what: `${what} of ${objects.count.toLocaleString('en-US')}/s`,
        floors: listed,
        job: (server, durationMs) => ({ type, server, durationMs, clients: readers, ...objects }),
      }),
    ),
  )
}

function watchCase({ small }: Size, watchers: number): Case {
  return {
    what: `watch events/s, ${watchers.toLocaleString('en-US')} watchers`,
    floors: watched,
    job: (server, durationMs) => {
      const { small: namespace } = namespaceNames
      return { type: 'watch', server, durationMs, clients, namespace, count: small, watchers }
    },
  }
}
