/** Settings that several commands have. */

import { defaultMemberQuota, type MemberQuota } from '../../apiservice/admission/member-quota.ts'
import { defaultLimits, type InFlightLimits } from '../../apiservice/fairness/stage.ts'
import { overlaps, parseCidr } from '../ip/cidr.ts'
import { logLevels } from '../telemetry/logger.ts'
import { UsageError } from './command.ts'
import type { Values } from './setting.ts'
import * as setting from './setting.ts'

const mib = 1024 * 1024

export const logLevel = setting.oneOf(
  { placeholder: 'LEVEL', description: `What is logged: ${logLevels.join(', ')}.`, default: 'info' },
  logLevels,
)

export const controllers = setting.oneOf(
  {
    placeholder: 'WHICH',
    description: 'all, or none: only the API server, without controllers and agents.',
    default: 'all',
  },
  ['all', 'none'],
)

/** What the hub takes ClusterSetIPs from. */
export const addresses = {
  clustersetCidr: setting.cidrs({
    placeholder: 'CIDR,…',
    description:
      'Blocks that ClusterSetIPs are taken from, of either family. From a config file they are read again while the hub runs.',
    default: '10.112.0.0/16,fd00:10:112::/112',
  }),
  addressQuarantine: setting.duration({
    placeholder: 'TIME',
    description: 'How long the addresses of a service that nobody exports any more are kept for it.',
    default: '5m',
  }),
}

export const serviceCidr = setting.cidrs(
  {
    placeholder: 'CIDR,…',
    description: 'Blocks that Services get addresses from, at most one of each family.',
    default: '10.96.0.0/16,fd00:10:96::/112',
  },
  1,
)

/** Throws when an address of a Service could be a ClusterSetIP as well. */
export function requireApart(clusterSetCidrs: readonly string[], serviceCidrs: readonly string[]): void {
  const blocks = serviceCidrs.map(parseCidr).filter(block => block !== undefined)
  for (const text of clusterSetCidrs) {
    const pool = parseCidr(text)
    const other = pool && blocks.find(block => overlaps(pool, block))
    if (other === undefined) continue
    throw new UsageError(
      `--clusterset-cidr ${text} overlaps --service-cidr ${other.text}: choose blocks that do not, or a Service and a ClusterSet service get the same address`,
    )
  }
}

/** Answers the blocks of ClusterSetIPs as they are set by now; throws when they are of no use. */
export function rereadPools(
  reread: () => { readonly clustersetCidr: readonly string[]; readonly serviceCidr: readonly string[] },
): () => readonly string[] {
  return () => {
    const { clustersetCidr, serviceCidr } = reread()
    requireApart(clustersetCidr, serviceCidr)
    return clustersetCidr
  }
}

export function portSetting(description: string, number: number): setting.Setting<number> {
  return setting.integer({ placeholder: 'PORT', description, default: String(number) }, 1, 65_535)
}

export const host = setting.ipAddress({
  placeholder: 'ADDRESS',
  description: 'The address that is listened on.',
  default: '0.0.0.0',
})

/** Of API servers. */
export const listening = {
  host,
  advertise: setting.optional(
    setting.listOf(
      setting.address({
        placeholder: 'HOST:PORT,…',
        description:
          'Where others reach this server, if not by the name of this machine; its certificate names them.',
      }),
    ),
  ),
  serviceCidr,
  clientCa: setting.optional(
    setting.file({
      placeholder: 'FILE',
      description: 'PEM file with more authorities whose client certificates are taken.',
    }),
  ),
  history: setting.duration(
    {
      placeholder: 'TIME',
      description: 'How long changes are kept for watches and lists at an older revision, at least 10s.',
      default: '5m',
    },
    '1d',
    '10s',
  ),
  historySize: setting.integer(
    {
      placeholder: 'MIB',
      description: 'How much of that is kept at most, in MiB; beyond, older changes are forgotten earlier.',
      default: '256',
    },
    1,
    16_384,
  ),
  maxRequestsInflight: setting.integer(
    {
      placeholder: 'N',
      description:
        'How many requests that read are done at once, watches excepted once they have begun; a quarter of them for one client. More wait, each client in its own queue.',
      default: String(defaultLimits.readOnly),
    },
    1,
    100_000,
  ),
  maxMutatingRequestsInflight: setting.integer(
    {
      placeholder: 'N',
      description: 'The same for requests that write.',
      default: String(defaultLimits.mutating),
    },
    1,
    100_000,
  ),
  shutdownDelay: setting.duration(
    {
      placeholder: 'TIME',
      description: 'How long a server that was told to stop still serves, while /readyz fails already.',
      default: '0s',
    },
    '1m',
  ),
}

/** How much each member may keep on its hub. */
export const memberLimits = {
  memberExports: setting.integer(
    {
      placeholder: 'COUNT',
      description: 'How many Services each member may export at most; the others of it are refused.',
      default: String(defaultMemberQuota.exports),
    },
    1,
    1_000_000,
  ),
  memberSlices: setting.integer(
    {
      placeholder: 'COUNT',
      description: 'How many EndpointSlices of these each member may export at most.',
      default: String(defaultMemberQuota.slices),
    },
    1,
    1_000_000,
  ),
  memberSize: setting.integer(
    {
      placeholder: 'MIB',
      description: 'How much each member may keep on the hub in all, as JSON, in MiB.',
      default: String(defaultMemberQuota.bytes / mib),
    },
    1,
    16_384,
  ),
}

/** As the hub takes it. */
export function memberQuotaOf(values: Values<typeof memberLimits>): MemberQuota {
  return { exports: values.memberExports, slices: values.memberSlices, bytes: values.memberSize * mib }
}

/** As the store takes it. */
export function historyOf({
  history,
  historySize,
}: {
  readonly history: number
  readonly historySize: number
}): {
  readonly historyMs: number
  readonly historyBytes: number
} {
  return { historyMs: history, historyBytes: historySize * mib }
}

/** As the server takes it. */
export function limitsOf(values: {
  readonly maxRequestsInflight: number
  readonly maxMutatingRequestsInflight: number
}): InFlightLimits {
  return { readOnly: values.maxRequestsInflight, mutating: values.maxMutatingRequestsInflight }
}
