import type { Revision } from '../../store-contract.ts'
import { GrpcError, grpcCode } from './grpc.ts'
import type { LoadParts } from './loading.ts'
import { type FloorMark, floorIn, moveFloor, readFloor } from './markers.ts'
import type { KeyValue } from './messages.ts'

/** How often the history is compacted, unless it is shorter. */
const mostOftenMs = 60_000
const partOfHistory = 5

/**
 * Lets etcd forget what the history of every server has forgotten. Of all servers the one comes through that moves the
 * mark of the floor, which the others see.
 */
export class Compaction {
  readonly #parts: LoadParts
  #mark: FloorMark
  #markedAt: number

  constructor(parts: LoadParts, mark: FloorMark) {
    this.#parts = parts
    this.#mark = mark
    this.#markedAt = parts.settings.clock.now()
  }

  /** The history of no server needs anything before it. */
  get floor(): Revision {
    return this.#mark.floor
  }

  /** A server has moved the floor. */
  take(marker: KeyValue): void {
    this.#set(floorIn(marker))
  }

  /** Resolves when the floor is at a revision or beyond, for every server. */
  async to(floor: Revision, signal: AbortSignal): Promise<void> {
    const { client, layout } = this.#parts
    while (this.floor < floor) {
      const known = this.#mark
      const moved = await moveFloor(client, layout, { ...known, floor }, signal)
      const mark = moved ?? (await readFloor(client, layout, signal))
      if (mark.changedAt <= known.changedAt) throw new Error('etcd went back: the floor is an older one')
      this.#set(mark)
      if (moved !== undefined) await this.#compact(floor, signal)
    }
  }

  /** Goes on with the floor from time to time; a full etcd can be compacted, though it takes no mark. */
  async follow(floor: Revision, signal: AbortSignal): Promise<void> {
    const { clock, historyMs } = this.#parts.settings
    const isTime = clock.now() - this.#markedAt >= Math.min(mostOftenMs, historyMs / partOfHistory)
    if (floor <= this.floor || !isTime) return
    try {
      await this.to(floor, signal)
    } catch (thrown) {
      if (!(thrown instanceof GrpcError) || thrown.code !== grpcCode.resourceExhausted) throw thrown
      await this.#compact(floor, signal)
    }
  }

  #set(mark: FloorMark): void {
    if (mark.changedAt <= this.#mark.changedAt) return
    this.#mark = mark
    this.#markedAt = this.#parts.settings.clock.now()
  }

  async #compact(floor: Revision, signal: AbortSignal): Promise<void> {
    const { client, settings } = this.#parts
    try {
      await client.compact(floor, signal)
      settings.log.debug('etcd compacted', { revision: floor })
    } catch (thrown) {
      // Others have gone further already.
      if (!(thrown instanceof GrpcError) || thrown.code !== grpcCode.outOfRange) throw thrown
    }
  }
}
