// Every implementation of the `Cluster` seam. The in-process one also runs it in its own file, beside its own tests.

import { NamespaceKind } from '../../src/api/kinds/namespace.ts'
import { ClusterClient } from '../../src/cluster/client.ts'
import { resource } from '../../src/cluster/cluster.ts'
import { never } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { testServer } from '../support/api-server.ts'
import { manualClock } from '../support/manual-clock.ts'
import { clusterConformance } from './cluster.ts'

const namespaces = resource(NamespaceKind)

clusterConformance('the client, with a server of ours,', async () => {
  const clock = manualClock()
  const server = await testServer({ clock })
  const { certificate: cert, key } = server.admin
  const credentials = { ca: server.authority.certificate, cert, key }
  const cluster = new ClusterClient({
    name: 'member',
    servers: [server.url],
    credentials: async () => credentials,
    clock: systemClock,
  })
  for (const name of ['shop', 'other']) {
    await cluster.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, never)
  }
  let open = true
  const close = async (): Promise<void> => {
    if (open) {
      open = false
      await server.close()
    }
    cluster.close()
  }
  return {
    cluster,
    compact: () => server.store.compact(server.store.revision()),
    endWatches: async () => {
      open = false
      await server.close()
    },
    bookmark: () => clock.advance(61_000),
    close,
  }
})
