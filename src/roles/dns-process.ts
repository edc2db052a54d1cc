/** The responder as a process of its own: with a kubeconfig, a home and probes. */
import type { AnswerOptions } from '../../dns/settings.ts'
import type { Context, Running } from './context.ts'
import { openDnsRole, whenAnswering } from './dns.ts'
import { openHome } from './home.ts'
import { opening } from './opening.ts'
import { requirePorts } from './ports.ts'
import { startProbe } from './probe.ts'
import { connect } from './underneath.ts'

export type DnsProcessOptions = {
  readonly kubeconfig: string
  readonly context: string | undefined
  readonly home: string
  readonly host: string
  readonly port: number
  readonly probePort: number
  readonly workers: number
  /** Milliseconds. */
  readonly lameDuck: number
  readonly answers: Omit<AnswerOptions, 'host'>
}

export async function startDnsProcess(options: DnsProcessOptions, context: Context): Promise<Running> {
  const { host, port, probePort, workers } = options
  await requirePorts([
    { owner: 'DNS', host, port, protocols: ['TCP', 'UDP'], advice: 'choose another with --port' },
    {
      owner: 'probes',
      host,
      port: probePort,
      protocols: ['TCP'],
      advice: 'choose another with --probe-port',
    },
  ])
  const home = await openHome(options.home)
  const named = options.context === undefined ? {} : { context: options.context }
  const cluster = await connect({ path: options.kubeconfig, ...named }, context)
  const { answers, lameDuck: lameDuckMs } = options
  const role = { ...answers, cluster, host, port, home, workers, lameDuckMs }
  return opening(context, async opened => {
    opened.add(() => cluster.close())
    const dns = await openDnsRole(role, context)
    let probe: Running | undefined
    opened.add(async () => {
      await dns.close()
      await probe?.close()
    })
    probe = await startProbe(
      { host, port: probePort, alive: signal => dns.check(signal), ready: () => dns.ready() },
      context,
    )
    // Probed while it waits: a process that is alive but knows nothing yet is not to be started anew.
    await whenAnswering(dns, context)
    return { close: () => opened.close() }
  })
}
