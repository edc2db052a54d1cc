import { type Asking, ask, askAddresses, type Question, type Server } from './ask.ts'
import type { Observed } from './diagnose.ts'

export type ExamineOptions = Asking & {
  readonly zone: string
  readonly resolver: Server
  readonly responder: Server | undefined
  /** A service's whole name. */
  readonly service: string | undefined
}

/** Asks everybody on the way. */
export async function examine(options: ExamineOptions): Promise<Observed> {
  const { zone, resolver, responder, service } = options
  const version: Question = { name: `dns-version.${zone}`, type: 'TXT' }
  return {
    zone,
    resolver,
    version: await ask(resolver, version, 'udp', options),
    responder: responder && {
      server: responder,
      udp: await ask(responder, version, 'udp', options),
      tcp: await ask(responder, version, 'tcp', options),
      apex: await ask(responder, { name: zone, type: 'A' }, 'udp', options),
    },
    service: service === undefined ? undefined : await serviceOf(service, options),
  }
}

async function serviceOf(name: string, options: ExamineOptions): Promise<NonNullable<Observed['service']>> {
  const { resolver, responder } = options
  return {
    name,
    resolver: await askAddresses(resolver, name, options),
    responder: responder && (await askAddresses(responder, name, options)),
  }
}
