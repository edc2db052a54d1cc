// A responder over the API server that a kubeconfig names: dns-server.ts KUBECONFIG CONTEXT WORKERS. Prints its port.
// On SIGUSR2 the main thread works for 100 ms of every second; on SIGTERM it ends.
import { enableCompileCache } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { systemClock } from '../../src/kernel/clock.ts'

// As the command does.
setFlagsFromString('--optimize-for-size')
enableCompileCache(join(tmpdir(), 'isthmus-bench-cache'))
const { contextClient } = await import('../support/fleet-client.ts')
const { runDns } = await import('../support/dns-responder.ts')
const { eventually } = await import('../support/eventually.ts')

const [kubeconfig = '', context = '', workers = '1'] = process.argv.slice(2)
const cluster = await contextClient(kubeconfig, context)
const { dns, port } = await runDns({ cluster, workers: Number(workers) })
await eventually(() => {
  if (!dns.ready()) throw new Error('not ready')
}, 120_000)
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
