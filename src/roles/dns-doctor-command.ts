import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { systemClock } from '../kernel/clock.ts'
import { type CommandDefinition, UsageError } from './command.ts'
import * as setting from './setting.ts'
import { portSetting } from './shared-settings.ts'

const settings = {
  zone: setting.dnsName({
    placeholder: 'NAME',
    description: 'The zone that is looked for.',
    default: 'clusterset.local',
  }),
  name: setting.optional(
    setting.dnsName({
      placeholder: 'NAME',
      description: 'A service to resolve too, such as web.shop or a whole name.',
    }),
  ),
  clusterDns: setting.optional(
    setting.ipAddress({
      placeholder: 'ADDRESS',
      description: "The cluster's DNS; the first name server of --resolv-conf unless told.",
    }),
  ),
  clusterDnsPort: portSetting("The port of the cluster's DNS.", 53),
  responder: setting.optional(
    setting.ipAddress({
      placeholder: 'ADDRESS',
      description: 'The address of the responder, to look there too.',
    }),
  ),
  responderPort: portSetting('The port of the responder.', 53),
  resolvConf: setting.text({
    placeholder: 'FILE',
    description: 'Where this machine, or pod, says which name servers it uses.',
    default: '/etc/resolv.conf',
  }),
  timeout: setting.duration(
    { placeholder: 'TIME', description: 'How long each answer is waited for, at most 1m.', default: '2s' },
    '1m',
    '100ms',
  ),
}

export const dnsDoctorCommand: CommandDefinition<typeof settings> = {
  name: 'doctor',
  description: "Resolves through the cluster's DNS from where it runs, and says which hop is wrong.",
  settings,
  run: async values => {
    const [{ examine }, { diagnose }] = await Promise.all([
      import('../../dns/doctor/examine.ts'),
      import('../../dns/doctor/diagnose.ts'),
    ])
    const { zone, responder } = values
    const findings = diagnose(
      await examine({
        zone,
        resolver: { host: values.clusterDns ?? nameServer(values.resolvConf), port: values.clusterDnsPort },
        responder: responder === undefined ? undefined : { host: responder, port: values.responderPort },
        service: values.name === undefined ? undefined : wholeName(values.name, zone),
        clock: systemClock,
        timeoutMs: values.timeout,
      }),
    )
    for (const { good, text } of findings) process.stdout.write(`${good ? 'good' : 'bad'}: ${text}\n`)
    const wrong = findings.filter(({ good }) => !good)
    if (wrong.length > 0) throw new Error(`${zone} does not work from here`)
  },
}

/** `web.shop` is a service of a namespace. */
function wholeName(name: string, zone: string): string {
  const plain = name.replace(/\.$/, '')
  return plain.split('.').length === 2 ? `${plain}.svc.${zone}` : plain
}

function nameServer(file: string): string {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    throw new UsageError(`${file} cannot be read: give --cluster-dns`)
  }
  const addresses = text.split('\n').map(line => /^\s*nameserver\s+(\S+)/.exec(line)?.[1] ?? '')
  const found = addresses.find(address => isIP(address) !== 0)
  if (found === undefined) throw new UsageError(`${file} names no name server: give --cluster-dns`)
  return found
}
