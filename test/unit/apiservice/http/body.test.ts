import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { readBody } from '../../../../apiservice/http/body.ts'

/** A request whose client sends this much of its five bytes, and then goes away before anybody has read. */
async function given(body: string): Promise<IncomingMessage> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on a port has an address of this form.
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  client.write(`PUT / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n${body}`)
  const [request]: IncomingMessage[] = await once(server, 'request')
  if (request === undefined) throw new Error('no request')
  const closed = new Promise(resolve => request.once('close', resolve))
  client.destroy()
  await closed
  server.close()
  return request
}

it('of a client that went away before it was read is refused, and not waited for', async () => {
  await expect(readBody(await given('hel'))).rejects.toMatchObject({ code: 400 })
  await expect(readBody(await given(''))).rejects.toMatchObject({ code: 400 })
})
