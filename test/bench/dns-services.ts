import type { ClusterClient } from '../../src/cluster/client.ts'
import { createService, type Service } from '../peers/world.ts'

const atOnce = 16

export async function createServices(
  cluster: ClusterClient,
  count: number,
  serviceOf: (i: number) => Service,
): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await createService(cluster, serviceOf(next++))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
