/** The order in which one message is worked on: parse → decide → write. Wires the stages; sockets are not known here. */
import { decide, emptyDecision, refuse } from './answer/decision.ts'
import { writeSections } from './answer/sections.ts'
import { type Observer, type Origin, type Random, type Responder, rcode, type Zone } from './contract.ts'
import { emptyQuery, type Parsed, parseQuery } from './wire/query.ts'
import { beginReply, emptyReply, optSize, sizeLimit, writeHeader, writeOpt } from './wire/reply.ts'

export type ChainOptions = {
  /** The longest origin first, where one lies in another. */
  readonly zones: readonly Zone[]
  /** What NSID answers (RFC 5001); absent for nothing. */
  readonly nsid: Buffer | undefined
  readonly random: Random
  readonly observer: Observer
}

/** So that a refusal with NSID fits into 512 octets whatever the question. */
export const maxNsidOctets = 64

const refusals: Readonly<Record<Exclude<Parsed, 'query' | 'drop'>, number>> = {
  notimp: rcode.notImp,
  formerr: rcode.formErr,
  badopt: rcode.formErr,
  badvers: rcode.badVers,
  signed: rcode.notAuth,
}

export class Chain implements Responder {
  readonly #options: ChainOptions
  readonly #query = emptyQuery()
  readonly #decision = emptyDecision()
  readonly #reply = emptyReply()

  constructor(options: ChainOptions) {
    if ((options.nsid?.length ?? 0) > maxNsidOctets) {
      throw new RangeError(
        `an NSID has at most ${maxNsidOctets} octets, this one has ${options.nsid?.length}`,
      )
    }
    this.#options = options
  }

  get bytes(): Buffer {
    return this.#reply.bytes
  }

  respond(message: Buffer, origin: Origin): number {
    const { observer } = this.#options
    const parsed = parseQuery(message, this.#query)
    if (parsed === 'drop') {
      observer.dropped(origin.transport)
      return 0
    }
    const decision = this.#decision
    try {
      if (parsed === 'query') decide(this.#query, this.#options.zones, decision)
      else refuse(decision, refusals[parsed])
      this.#write(message, origin)
    } catch (thrown) {
      observer.fault(thrown)
      refuse(decision, rcode.servFail)
      this.#write(message, origin)
    }
    observer.answered(this.#query, decision, this.#reply, origin)
    return this.#reply.length
  }

  #write(message: Buffer, origin: Origin): void {
    const query = this.#query
    const decision = this.#decision
    const reply = this.#reply
    const { nsid, random } = this.#options
    beginReply(reply, message, query)
    reply.limit = sizeLimit(query, origin) - optSize(query, decision, nsid)
    writeSections(reply, query, decision, random)
    writeOpt(reply, query, decision, nsid)
    writeHeader(reply, query, decision, origin)
  }
}
