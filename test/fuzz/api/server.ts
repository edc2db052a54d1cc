/** The servers that are fuzzed: hub and member as they are run, and one for kinds of tests. A process of its own. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '../../../src/codec/yaml.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { silentLogger } from '../../../src/kernel/log.ts'
import { startFleet } from '../../../src/roles/fleet.ts'
import { prometheus } from '../../../src/telemetry/prometheus.ts'
import { testServer } from '../../support/api-server.ts'
import { freePorts, temporaryFolder } from '../../support/fleet.ts'
import { SpaceKind, WidgetKind } from '../../support/kinds.ts'
import { report, slowness } from './probe.ts'
import type { Server, Started } from './target.ts'

const stopping = new AbortController()
const home = temporaryFolder()
const context = { clock: systemClock, log: silentLogger, metrics: prometheus(), signal: stopping.signal }

const fleet = await startFleet(
  {
    home: home.path,
    port: await freePorts(),
    members: ['east'],
    controllers: false,
    clusterSetCidrs: ['241.0.0.0/8'],
    quarantineMs: 60_000,
    serviceCidrs: ['10.96.0.0/16'],
  },
  context,
)
const own = await testServer({ kinds: [WidgetKind, SpaceKind], admission: [] })

process.once('disconnect', () => void stop())
process.on('message', message => {
  if (message === 'load') process.send?.(report())
  if (message === 'slowness') process.send?.(slowness())
})
process.send?.({ servers: [...serversOf(join(home.path, 'kubeconfig')), ofTests()] } satisfies Started)

async function stop(): Promise<void> {
  stopping.abort()
  await Promise.all([fleet.close(), own.close()])
  rmSync(home.path, { recursive: true, force: true })
}

function ofTests(): Server {
  return { name: 'own kinds', url: own.url, ca: own.authority.certificate, identity: own.admin }
}

type Kubeconfig = {
  readonly clusters: readonly {
    readonly name: string
    readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string }
  }[]
  readonly users: readonly {
    readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string }
  }[]
}

function serversOf(path: string): readonly Server[] {
  // The fleet has just written it.
  const { clusters, users } = parseYaml(readFileSync(path, 'utf8')).value as Kubeconfig
  return clusters.map(({ name, cluster }, at) => ({
    name,
    url: cluster.server,
    ca: text(cluster['certificate-authority-data']),
    identity: {
      certificate: text(users[at]?.user['client-certificate-data']),
      key: text(users[at]?.user['client-key-data']),
    },
  }))
}

function text(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString('utf8')
}
