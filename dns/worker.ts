/**
 * The thread that answers. It holds the zone and the sockets and loads little else; what it knows comes in messages, what
 * it counted goes out in messages.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { errorText } from '../src/kernel/abort.ts'
import { steadyClock, systemClock } from '../src/kernel/clock.ts'
import { Chain } from './chain.ts'
import { maxUdpOctets, type Observer } from './contract.ts'
import {
  type FromWorker,
  type ToWorker,
  type UdpLimits,
  type WorkerSettings,
  workerRole,
} from './messages.ts'
import { loadLibc } from './server/libc.ts'
import { tcpLimits } from './server/limits.ts'
import { Networks } from './server/networks.ts'
import { QueryLog } from './server/query-log.ts'
import { Tally } from './server/tally.ts'
import { serveTcp, type TcpServer } from './server/tcp.ts'
import { serveUdp, type UdpClamp, type UdpServer } from './server/udp.ts'
import { Zones } from './zone/zones.ts'

const reportEveryMs = 1000
const logEveryMs = 200
/** With port 0 a port that is free for UDP may be taken for TCP. */
const portAttempts = 16

type Port = NonNullable<typeof parentPort>
type Sockets = { readonly udp: UdpServer; readonly tcp: TcpServer }

async function run(port: Port, settings: WorkerSettings): Promise<void> {
  const say = (message: FromWorker): void => port.postMessage(message)
  const report = (): void => say({ kind: 'report', report: tally.take() })
  const logged = (): void => say({ kind: 'answers', ...observer.take() })
  const tally = new Tally(
    () => performance.now(),
    () => void systemClock.after(reportEveryMs, report),
  )
  const observer = new QueryLog(settings.queryLog, tally, () => void systemClock.after(logEveryMs, logged))
  const zones = new Zones(settings.zone)
  zones.apply({ serial: 0, put: settings.fixed, removed: [] })
  const nsid = settings.nsid === undefined ? undefined : Buffer.from(settings.nsid)
  const responder = new Chain({ zones: zones.all, nsid, random: Math.random, observer })
  const sockets = await listen(settings, responder, observer)
  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'change':
        zones.apply(message.change)
        say({ kind: 'applied', names: zones.names })
        return
      case 'loaded':
        zones.loaded()
        return
      case 'report':
        report()
        return
      case 'close':
        void close(sockets).then(() => {
          report()
          logged()
          port.close()
        })
    }
  })
  say({ kind: 'listening', port: sockets.udp.port })
}

async function listen(
  { endpoint, limits, udpBatch }: WorkerSettings,
  responder: Chain,
  observer: Observer,
): Promise<Sockets> {
  const libc = udpBatch === 'off' ? undefined : loadLibc()
  const udpOptions = { responder, observer, clamp: clampOf(limits), libc }
  for (let attempt = 1; ; attempt++) {
    const udp = await serveUdp(endpoint, udpOptions)
    try {
      const tcpEndpoint = { ...endpoint, port: udp.port }
      const options = { limits: tcpLimits, clock: steadyClock, responder, observer }
      return { udp, tcp: await serveTcp(tcpEndpoint, options) }
    } catch (thrown) {
      await udp.close()
      if (endpoint.port !== 0 || attempt === portAttempts) throw thrown
    }
  }
}

function clampOf({ nearNetworks, farOctets }: UdpLimits): UdpClamp {
  if (nearNetworks === undefined) return () => maxUdpOctets
  const near = new Networks(nearNetworks)
  return address => (near.includes(address) ? maxUdpOctets : farOctets)
}

/** With its sockets and its port closed nothing keeps the thread alive. */
async function close({ udp, tcp }: Sockets): Promise<void> {
  await Promise.all([udp.close(), tcp.close()])
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
