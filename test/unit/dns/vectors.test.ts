// The whole way: objects in a cluster, several workers, real sockets of both families.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/kernel/clock.ts'
import { framed, question, shown } from '../../support/dns-message.ts'
import { exampleObjects } from '../../support/dns-objects.ts'
import { type RunningDns, runDns, servicesCluster } from '../../support/dns-responder.ts'
import { tcpClient, udpClient } from '../../support/dns-socket.ts'
import { fullName, summary } from '../../support/dns-text.ts'
import { vectors } from '../../support/dns-vectors.ts'
import { eventually } from '../../support/eventually.ts'

/** So many at once, which is several batches and no more than a client's socket holds. */
const burst = 40

const messages = vectors.map(([row], id) => {
  const [name = '', type = ''] = row.split(' ')
  return question(fullName(name), type, { id })
})

/** By question, whatever the order they came in. */
function table(replies: readonly Buffer[]): Readonly<Record<string, string>> {
  const inOrder = replies.toSorted((one, other) => one.readUInt16BE(0) - other.readUInt16BE(0))
  return Object.fromEntries(
    inOrder.map(reply => [vectors[reply.readUInt16BE(0)]?.[0] ?? '', summary(shown(reply))]),
  )
}

const nameServerAddresses = ['10.96.0.53']
/** Stands in the first second, so that the serial is 1. */
const clock = { ...systemClock, now: () => 1000 }

describe.each(['auto', 'off'] as const)(
  'a responder on all addresses, datagrams in batches: %s',
  udpBatch => {
    let running: RunningDns
    beforeAll(async () => {
      const services = servicesCluster()
      await services.put(exampleObjects())
      const options = {
        cluster: services.cluster,
        host: '::',
        workers: 2,
        nameServerAddresses,
        udpBatch,
        clock,
      }
      running = await runDns(options)
      await eventually(() => expect(running.dns.ready()).toBe(true))
      await running.dns.settled()
    })
    afterAll(() => running.dns.close())

    it.each(['127.0.0.1', '::1'])('answers every vector over UDP to %s', async host => {
      // Several ports: the kernel spreads clients over the workers by them.
      const clients = await Promise.all(Array.from({ length: 8 }, () => udpClient(running.port, host)))
      try {
        const replies: Buffer[] = []
        for (let at = 0; at < messages.length; at += burst) {
          const sent = messages
            .slice(at, at + burst)
            .map((message, i) => clients[i % clients.length]?.ask(message))
          replies.push(...(await Promise.all(sent)).filter(reply => reply !== undefined))
        }
        expect(table(replies)).toEqual(Object.fromEntries(vectors))
      } finally {
        await Promise.all(clients.map(client => client.close()))
      }
    })

    it.each(['127.0.0.1', '::1'])(
      'answers every vector over TCP to %s, in the order of coming',
      async host => {
        const client = await tcpClient(running.port, { host })
        try {
          client.socket.write(Buffer.concat(messages.map(framed)))
          const replies: Buffer[] = []
          for (const _ of messages) replies.push(await client.next())
          expect(replies.map(reply => reply.readUInt16BE(0))).toEqual(messages.map((_, id) => id))
          expect(table(replies)).toEqual(Object.fromEntries(vectors))
        } finally {
          client.socket.destroy()
        }
      },
    )
  },
)
