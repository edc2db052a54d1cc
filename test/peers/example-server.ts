// The example zone on 127.0.0.1 port 53, for clients that know no other. Prints `ready`; ends with its process.
import { exampleObjects } from '../support/dns-objects.ts'
import { runDns, servicesCluster } from '../support/dns-responder.ts'
import { eventually } from '../support/eventually.ts'

const services = servicesCluster()
await services.put(exampleObjects())
const { dns } = await runDns({ cluster: services.cluster, port: 53 })
await eventually(() => {
  if (!dns.ready()) throw new Error('not ready')
})
process.stdout.write('ready\n')
