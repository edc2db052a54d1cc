import { BlockList, isIPv6 } from 'node:net'

const maxRemembered = 4096

/** Blocks of addresses that a client is in or not. */
export class Networks {
  readonly #blocks = new BlockList()
  /** Looking through the blocks costs as much as an answer, and clients come again. */
  readonly #known = new Map<string, boolean>()

  /** Throws when one is no block of addresses. */
  constructor(blocks: readonly string[]) {
    for (const block of blocks) {
      const [address = '', prefix] = block.split('/')
      this.#blocks.addSubnet(address, Number(prefix), familyOf(address))
    }
  }

  includes(address: string): boolean {
    const known = this.#known.get(address)
    if (known !== undefined) return known
    const plain = address.split('%', 1)[0] ?? ''
    const found = this.#blocks.check(plain, familyOf(plain))
    if (this.#known.size >= maxRemembered) this.#known.clear()
    this.#known.set(address, found)
    return found
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}
