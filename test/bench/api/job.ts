import type { Address, Call } from './connection.ts'

/** A server under load: where it is, and the path and name of the group and version that it serves ServiceImports at. */
export type Server = Address & { readonly prefix: string; readonly apiVersion: string }

export type Timed = { readonly server: Server; readonly clients: number; readonly durationMs: number }

/** What the load process is told to do. Objects of `namespace` are named by `seedName`. */
export type Job =
  | { readonly type: 'ask'; readonly server: Server; readonly calls: readonly Call[] }
  | { readonly type: 'seed'; readonly server: Server; readonly namespace: string; readonly count: number }
  | (Timed & { readonly type: 'create'; readonly namespace: string; readonly prefix: string })
  | (Timed & {
      readonly type: 'get' | 'pair' | 'patch'
      readonly namespace: string
      readonly count: number
    })
  | (Timed & {
      readonly type: 'list' | 'paged' | 'table'
      readonly namespace: string
      readonly count: number
    })
  | (Timed & {
      readonly type: 'watch'
      readonly namespace: string
      readonly count: number
      readonly watchers: number
    })

/** `done` in `seconds`; watches count events. A job that is not answered as it has to be fails. */
export type Done = { readonly done: number; readonly seconds: number; readonly codes: readonly number[] }

export type JobResult = Done | { readonly fault: string }
