import { type ChosenConsumers, chosenConsumers } from './consumers.ts'
import { type RequestedAddresses, requestedAddresses } from './requested-addresses.ts'
import { type ChosenEnd, whenUnreachable } from './when-unreachable.ts'

/** What the annotations of a ServiceExport choose. */
export type ExportOptions = {
  readonly consumers: ChosenConsumers['ids']
  readonly addresses: RequestedAddresses['ips']
  readonly whenUnreachable: ChosenEnd['chosen']
  /** A sentence for each annotation that cannot be read as it stands. */
  readonly problems: readonly string[]
}

export function exportOptions(annotations: Readonly<Record<string, string>> | undefined): ExportOptions {
  const consumers = chosenConsumers(annotations)
  const addresses = requestedAddresses(annotations)
  const silent = whenUnreachable(annotations)
  return {
    consumers: consumers.ids,
    addresses: addresses.ips,
    whenUnreachable: silent.chosen,
    problems: [consumers.problem, addresses.problem, silent.problem].filter(problem => problem !== undefined),
  }
}
