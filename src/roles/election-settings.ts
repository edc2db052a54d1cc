/** Who leads, under the names that kube-controller-manager has for it. */
import type { ElectionTiming } from '../election/election.ts'
import { UsageError } from './command.ts'
import type { Values } from './setting.ts'
import * as setting from './setting.ts'

export const electionSettings = {
  leaderElect: setting.oneOf(
    {
      placeholder: 'WHEN',
      description:
        'Whether the controllers run only while this process leads: true, false, or auto, which is true where several processes can have the store; with false no other one may have it.',
      default: 'auto',
    },
    ['auto', 'true', 'false'],
  ),
  leaderElectLeaseDuration: setting.duration(
    {
      placeholder: 'TIME',
      description: 'How long others wait for a leader that they do not hear of, in whole seconds.',
      default: '15s',
    },
    '10m',
    '1s',
  ),
  leaderElectRenewDeadline: setting.duration(
    {
      placeholder: 'TIME',
      description:
        'How long a leader tries to renew its lease before it stops, less than the lease duration.',
      default: '10s',
    },
    '10m',
    '500ms',
  ),
  leaderElectRetryPeriod: setting.duration(
    {
      placeholder: 'TIME',
      description: 'How long it is waited between two tries, less than 5/6 of the renew deadline.',
      default: '2s',
    },
    '5m',
    '100ms',
  ),
}

/** As client-go has it: a try is put off by so much at most. */
const jitter = 1.2

/** Undefined when this process leads in any case. Throws when the times do not go together. */
export function electionOf(
  values: Values<typeof electionSettings>,
  isShared: boolean,
): ElectionTiming | undefined {
  const { leaderElectLeaseDuration: leaseMs, leaderElectRenewDeadline: renewDeadlineMs } = values
  const retryMs = values.leaderElectRetryPeriod
  if (leaseMs <= renewDeadlineMs) {
    throw new UsageError('--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline')
  }
  if (renewDeadlineMs <= jitter * retryMs) {
    throw new UsageError(
      '--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period',
    )
  }
  const isWanted = values.leaderElect === 'auto' ? isShared : values.leaderElect === 'true'
  return isWanted ? { leaseMs, renewDeadlineMs, retryMs } : undefined
}
