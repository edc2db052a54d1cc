// A responder over an in-process cluster: dns-server.ts SERVICES ENDPOINTS WORKERS. Prints its port, then what it weighs.
// On SIGUSR2 the main thread works for 100 ms of every second; on SIGTERM it ends.
import { enableCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../src/kernel/clock.ts'
import { aClusterSetIp, aHeadless, aSlice } from '../support/dns-objects.ts'
import { runDns, servicesCluster } from '../support/dns-responder.ts'
import { eventually } from '../support/eventually.ts'

enableCompileCache(join(tmpdir(), 'isthmus-bench-cache'))
const [services = 1000, endpoints = 0, workers = 1] = process.argv.slice(2).map(Number)
const { cluster, put } = servicesCluster()
for (let i = 0; i < services; i++) {
  const key = `prod/s${i}`
  if (endpoints === 0) {
    await put({ imports: [aClusterSetIp(key, [`10.42.${i >> 8}.${i & 255}`], ['http/TCP/80'])] })
    continue
  }
  const hosts = Array.from({ length: endpoints }, (_, j) => `h-${j} 10.${i >> 8}.${i & 255}.${j}`)
  await put({ imports: [aHeadless(key)], slices: [aSlice(key, 'east', ['http/TCP/80'], hosts)] })
}
const { dns, port } = await runDns({ cluster, workers })
await eventually(() => {
  if (!dns.ready()) throw new Error('not ready')
})
process.stdout.write(`ready ${port}\n`)

function work(): void {
  const until = systemClock.now() + 100
  while (systemClock.now() < until) JSON.parse('{"a":[1,2,3]}')
  systemClock.after(900, work)
}

process.on('SIGUSR2', work)
process.on('SIGTERM', () => {
  void dns.close().then(() => process.exit(0))
})
