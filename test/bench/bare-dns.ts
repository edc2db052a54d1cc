// The floor: a UDP socket that sends a canned answer with the query's id. Prints its port.
import { createSocket } from 'node:dgram'

const canned = Buffer.from(
  '123485000001000100000000' +
    '0273310470726f64037376630a636c7573746572736574056c6f63616c0000010001' +
    'c00c000100010000000500040a2a000a',
  'hex',
)
const socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 })
socket.on('message', (message, peer) => {
  const reply = Buffer.allocUnsafe(canned.length)
  canned.copy(reply)
  message.copy(reply, 0, 0, 2)
  socket.send(reply, 0, reply.length, peer.port, peer.address)
})
socket.bind(0, '127.0.0.1', () => {
  process.stdout.write(`ready ${socket.address().port}\n`)
})
