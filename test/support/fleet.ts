import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RoleProcess, startRole } from './role-process.ts'

export type Fleet = RoleProcess & {
  readonly home: string
  readonly kubeconfig: string
  /** The hub's port; members follow on +1, +2…, their DNS on +10, +11…. */
  readonly port: number
}

export type FleetOptions = {
  readonly home?: string
  readonly port?: number
  readonly args?: readonly string[]
}

const span = 20

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

/** Below the ports that Linux gives to outgoing connections. */
const firstPort = 20_000
const lastPort = 32_000

/** A port with `span` free ones from it on, chosen at random so that runs side by side rarely meet. */
export async function freePorts(): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const base = firstPort + Math.floor((Math.random() * (lastPort - firstPort)) / span) * span
    const free = await Promise.all(Array.from({ length: span }, (_, i) => isFree(base + i)))
    if (free.every(Boolean)) return base
  }
  throw new Error('no free range of ports')
}

/** A folder that is gone when `dispose` is called. */
export function temporaryFolder(): { readonly path: string; dispose(): void } {
  const path = mkdtempSync(join(tmpdir(), 'isthmus-'))
  return {
    path,
    dispose: () => rmSync(path, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }),
  }
}

/** `npm start` without npm: the fleet as a process of its own. */
export async function startFleet(options: FleetOptions = {}): Promise<Fleet> {
  const port = options.port ?? (await freePorts())
  const home = options.home ?? temporaryFolder().path
  const process = await startRole(['fleet', '--home', home, '--port', String(port), ...(options.args ?? [])])
  return { ...process, home, port, kubeconfig: join(home, 'kubeconfig') }
}
