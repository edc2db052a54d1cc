import { setFlagsFromString } from 'node:v8'
import { systemClock } from '../kernel/clock.ts'
import { prometheus } from '../telemetry/prometheus.ts'
import type { CommandDefinition } from './command.ts'
import { answerOptions, answerSettings } from './dns-settings.ts'
import { announce, runUntilStopped } from './process.ts'
import * as setting from './setting.ts'
import { host, logLevel, portSetting } from './shared-settings.ts'

const settings = {
  kubeconfig: setting.text({
    placeholder: 'FILE',
    description:
      'A kubeconfig of the cluster whose ServiceImports are answered for, or in-cluster for the service account of the pod.',
  }),
  context: setting.optional(
    setting.text({
      placeholder: 'NAME',
      description: 'The context of the kubeconfig; its current one unless told.',
    }),
  ),
  home: setting.text({
    placeholder: 'DIR',
    description: 'Where the last known services are kept.',
    default: '.isthmus/dns',
  }),
  host,
  port: portSetting('The port that is answered on, UDP and TCP.', 53),
  probePort: portSetting('The port of /livez, /readyz and /metrics, plain HTTP.', 9153),
  workers: setting.integer(
    { placeholder: 'N', description: 'How many threads answer.', default: '1' },
    1,
    64,
  ),
  ...answerSettings,
  lameDuck: setting.duration(
    {
      placeholder: 'TIME',
      description: 'How long queries are answered after the process was told to stop, at most 10m.',
      default: '0s',
    },
    '10m',
  ),
  logLevel,
}

/**
 * Lists of many services leave twice as much garbage as they hold, and nothing of what this process does for long makes
 * any: the collector does well to run a little more often.
 */
function preferMemory(): void {
  setFlagsFromString('--optimize-for-size')
}

export const dnsCommand: CommandDefinition<typeof settings> = {
  name: 'dns',
  description: 'Answers clusterset.local for one cluster.',
  settings,
  run: values =>
    runUntilStopped(values.logLevel, async (log, signal) => {
      preferMemory()
      const { startDnsProcess } = await import('./dns-process.ts')
      const metrics = prometheus({ processMetrics: true })
      const answers = answerOptions(values)
      const running = await startDnsProcess(
        { ...values, answers },
        { clock: systemClock, log, metrics, signal },
      )
      announce(
        `dig @${values.host === '0.0.0.0' ? '127.0.0.1' : values.host} -p ${values.port} dns-version.${values.zone} TXT`,
      )
      return running
    }),
}
