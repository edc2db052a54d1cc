import { afterAll, beforeAll, describe } from 'vitest'
import type { ApiServerOptions } from '../../../apiservice/server.ts'
import type { AnyKind } from '../../../src/api/kind.ts'
import type { ApiClient, Protocol } from '../../support/api-client.ts'
import type { TestServer } from '../../support/api-server.ts'
import { type Answer, type Ask, asking } from './ask.ts'
import { GadgetKind } from './gadget.ts'
import { servedKinds, startConventionServer } from './server.ts'
import { Subject } from './subject.ts'

export type Which = (kind: AnyKind) => boolean

export const isStored: Which = kind => kind.storage === 'stored'
export const deletesCollection: Which = kind => isStored(kind) && kind.deletesCollection
export const isComputed: Which = kind => kind.storage === 'view'
/** Can be read: it is stored, or computed from what is stored. */
export const isReadable: Which = kind => kind.storage !== 'review'
export const isServed: Which = () => true
export const hasStatus: Which = kind => isStored(kind) && kind.status !== undefined

/** For what only one kind needs to show. */
export const isGadget: Which = kind => kind === GadgetKind

export type Suite = {
  /** The running server; only inside of tests. */
  readonly server: TestServer
  /** A client of an administrator. */
  readonly client: ApiClient
  /** What an administrator is answered. */
  ask(path: string, ask?: Ask): Promise<Answer>
  /** Tests for every kind of the server that fits. */
  every(which: Which, define: (subject: Subject) => void): void
}

/** Starts a server for the tests of this file, and stops it behind the last. */
export function aSuite(options: Partial<ApiServerOptions> = {}, protocol?: Protocol): Suite {
  let running: { readonly server: TestServer; readonly client: ApiClient } | undefined
  beforeAll(async () => {
    const server = await startConventionServer(options)
    running = { server, client: server.client(protocol) }
  })
  afterAll(async () => running?.server.close())
  const now = () => {
    if (running === undefined) throw new Error('the server runs only inside of tests')
    return running
  }
  const ask = (path: string, call: Ask = {}) => asking(now().client, path, call)
  return {
    get server() {
      return now().server
    },
    get client() {
      return now().client
    },
    ask,
    every: (which, define) => {
      const fitting = (options.kinds ?? servedKinds).filter(which)
      if (fitting.length === 0) throw new Error('no kind fits')
      for (const kind of fitting) {
        describe(`${kind.group || 'core'}/${kind.kind}`, () =>
          define(new Subject(kind, ask, () => now().client)))
      }
    },
  }
}
