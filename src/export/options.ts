import { type ChosenConsumers, chosenConsumers } from './consumers.ts'
import { type RequestedAddresses, requestedAddresses } from './requested-addresses.ts'

/** What the annotations of a ServiceExport choose. */
export type ExportOptions = {
  readonly consumers: ChosenConsumers['ids']
  readonly addresses: RequestedAddresses['ips']
  /** A sentence for each annotation that cannot be read as it stands. */
  readonly problems: readonly string[]
}

export function exportOptions(annotations: Readonly<Record<string, string>> | undefined): ExportOptions {
  const consumers = chosenConsumers(annotations)
  const addresses = requestedAddresses(annotations)
  return {
    consumers: consumers.ids,
    addresses: addresses.ips,
    problems: [consumers.problem, addresses.problem].filter(problem => problem !== undefined),
  }
}
