/** How a responder answers. */
import type { AnswerOptions } from '../../dns/settings.ts'
import * as setting from './setting.ts'

export const answerSettings = {
  zone: setting.dnsName({
    placeholder: 'NAME',
    description: 'The zone that is answered for.',
    default: 'clusterset.local',
  }),
  ttl: setting.duration(
    { placeholder: 'TIME', description: 'The TTL of answers, at most 1h.', default: '5s' },
    '1h',
  ),
  negativeTtl: setting.optional(
    setting.duration(
      {
        placeholder: 'TIME',
        description: 'The TTL of negative answers, at most 1h; that of answers, at most 5s, unless told.',
      },
      '1h',
    ),
  ),
  maxEndpoints: setting.integer(
    {
      placeholder: 'N',
      description:
        'How many endpoints the name of a headless service answers with, at most; with IPv6 never more than 2300.',
      default: '4000',
    },
    1,
    4000,
  ),
  reverseCidrs: setting.optional(
    setting.listOf(
      setting.cidr({
        placeholder: 'CIDR,…',
        description:
          'Blocks whose ClusterSetIPs have PTR records, with prefix lengths by 8 (IPv4) or 4 (IPv6).',
      }),
    ),
  ),
  nameServerAddresses: setting.optional(
    setting.listOf(
      setting.ipAddress({
        placeholder: 'ADDRESS,…',
        description:
          'What the name of the name server resolves to; the address that is listened on unless told.',
      }),
    ),
  ),
  nsid: setting.optional(
    setting.text({
      placeholder: 'TEXT',
      description: 'What clients that ask for the identity of the server are told (NSID), at most 64 octets.',
    }),
  ),
  nearNetworks: setting.optional(
    setting.listOf(
      setting.cidr({
        placeholder: 'CIDR,…',
        description: 'Clients outside of these blocks get smaller datagrams; nobody does unless told.',
      }),
    ),
  ),
  farUdpOctets: setting.integer(
    {
      placeholder: 'N',
      description: 'The most octets of a datagram to clients outside of --near-networks.',
      default: '512',
    },
    512,
    1232,
  ),
  udpBatch: setting.oneOf(
    {
      placeholder: 'WHICH',
      description:
        'Whether datagrams are taken and sent several at a time: auto where the platform can (Linux), or off.',
      default: 'auto',
    },
    ['auto', 'off'],
  ),
  queryLog: setting.oneOf(
    { placeholder: 'WHICH', description: 'Which answers are logged: off, errors, all.', default: 'off' },
    ['off', 'errors', 'all'],
  ),
}

export type AnswerValues = setting.Values<typeof answerSettings>

/** Absent settings stay absent. */
export function answerOptions({ ttl, negativeTtl, ...values }: AnswerValues): Omit<AnswerOptions, 'host'> {
  const told = Object.entries(values).filter(([, value]) => value !== undefined)
  const seconds = (ms: number): number => Math.ceil(ms / 1000)
  return {
    ...Object.fromEntries(told),
    ttlSeconds: seconds(ttl),
    ...(negativeTtl === undefined ? {} : { negativeTtlSeconds: seconds(negativeTtl) }),
  }
}
