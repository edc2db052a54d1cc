import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A TCP connection to somebody, by way of a port of its own, that loses what is said, or breaks. */
export class Wire {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isDeaf: boolean = false
  #isCut: boolean = false

  private constructor(target: URL) {
    this.#server = createServer(near => {
      if (this.#isCut) {
        near.destroy()
        return
      }
      const far = connect(Number(target.port), target.hostname)
      for (const [socket, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(socket)
        socket.on('error', () => other.destroy())
        socket.on('close', () => {
          this.#sockets.delete(socket)
          other.destroy()
        })
      }
      near.on('data', chunk => far.write(chunk))
      far.on('data', chunk => {
        if (!this.#isDeaf) near.write(chunk)
      })
    })
  }

  static async to(target: URL): Promise<Wire> {
    const wire = new Wire(target)
    wire.#server.listen(0, '127.0.0.1')
    await once(wire.#server, 'listening')
    return wire
  }

  get url(): URL {
    // A server that listens on TCP has such an address.
    const { port } = this.#server.address() as AddressInfo
    return new URL(`http://127.0.0.1:${port}`)
  }

  /** What is asked still arrives; what is answered is lost. */
  deafen(): void {
    this.#isDeaf = true
  }

  /** Breaks every connection, and each new one until `mend`. */
  cut(): void {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  mend(): void {
    this.#isDeaf = false
    this.#isCut = false
  }

  close(): void {
    this.cut()
    this.#server.close()
  }
}
