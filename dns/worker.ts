/**
 * The thread that answers. It holds the zone and the sockets and loads little else; what it knows comes in messages, what
 * it counted goes out in messages.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { errorText } from '../src/kernel/abort.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { Chain } from './chain.ts'
import { type FromWorker, type ToWorker, type WorkerSettings, workerRole } from './messages.ts'
import type { Endpoint } from './server/bind.ts'
import { tcpLimits } from './server/limits.ts'
import { Tally } from './server/tally.ts'
import { serveTcp, type TcpServer } from './server/tcp.ts'
import { serveUdp, type UdpServer } from './server/udp.ts'
import { ZoneSnapshot } from './zone/snapshot.ts'

const reportEveryMs = 1000
/** With port 0 a port that is free for UDP may be taken for TCP. */
const portAttempts = 16

type Port = NonNullable<typeof parentPort>
type Sockets = { readonly udp: UdpServer; readonly tcp: TcpServer }

async function run(port: Port, settings: WorkerSettings): Promise<void> {
  const say = (message: FromWorker): void => port.postMessage(message)
  const report = (): void => say({ kind: 'report', report: tally.take() })
  const tally = new Tally(
    () => performance.now(),
    () => void systemClock.after(reportEveryMs, report),
  )
  const zone = new ZoneSnapshot(settings.zone)
  zone.apply({ serial: 0, put: [settings.fixed], removed: [] })
  const nsid = settings.nsid === undefined ? undefined : Buffer.from(settings.nsid)
  const chain = new Chain({ zones: [zone], nsid, random: Math.random, observer: tally })
  const sockets = await listen(settings.endpoint, chain, tally)
  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'change':
        zone.apply(message.change)
        say({ kind: 'applied', names: zone.names })
        return
      case 'loaded':
        zone.loaded = true
        return
      case 'report':
        report()
        return
      case 'close':
        report()
        void close(port, sockets)
    }
  })
  say({ kind: 'listening', port: sockets.udp.port })
}

async function listen(endpoint: Endpoint, chain: Chain, tally: Tally): Promise<Sockets> {
  for (let attempt = 1; ; attempt++) {
    const udp = await serveUdp(endpoint, chain, tally)
    try {
      const tcpEndpoint = { ...endpoint, port: udp.port }
      const options = { limits: tcpLimits, clock: systemClock, responder: chain, observer: tally }
      return { udp, tcp: await serveTcp(tcpEndpoint, options) }
    } catch (thrown) {
      await udp.close()
      if (endpoint.port !== 0 || attempt === portAttempts) throw thrown
    }
  }
}

/** With its sockets and its port closed nothing keeps the thread alive. */
async function close(port: Port, { udp, tcp }: Sockets): Promise<void> {
  await Promise.all([udp.close(), tcp.close()])
  port.close()
}

function isOurs(data: unknown): data is WorkerSettings {
  return typeof data === 'object' && data !== null && 'role' in data && data.role === workerRole
}

// The main thread loads this file too, so that its compiled form is cached for the workers.
if (parentPort !== null && isOurs(workerData)) {
  const port = parentPort
  const settings = workerData
  run(port, settings).catch((thrown: unknown) => {
    port.postMessage({ kind: 'refused', message: errorText(thrown) } satisfies FromWorker)
    port.close()
  })
}
