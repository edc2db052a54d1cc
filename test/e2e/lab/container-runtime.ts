import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from '../../support/eventually.ts'
import type { Addresses } from './addresses.ts'
import { run } from './command.ts'
import { type Daemon, daemon, type Place } from './daemon.ts'
import { sandboxImage } from './images.ts'

export type ContainerRuntimeOptions = {
  readonly lab: string
  readonly folder: string
  readonly place: Place
  readonly addresses: Addresses
  /** A tar file with the images that pods name. */
  readonly images: string
}

export const runtimeSocket = '/run/containerd/containerd.sock'
const startMs = 30_000
const pluginFolders = ['/usr/lib/cni', '/opt/cni/bin']

/** Where the plugins of pod networks are. */
export function networkPlugins(): string | undefined {
  return pluginFolders.find(folder => existsSync(join(folder, 'bridge')))
}

/** containerd with runc and the bridge plugin, and images in it. */
export async function startContainerRuntime(options: ContainerRuntimeOptions): Promise<Daemon> {
  const { folder, lab, place } = options
  const network = join(folder, 'network')
  const settings = join(folder, 'containerd.toml')
  writeNetwork(network, options.addresses)
  writeFileSync(settings, runtimeSettings(network))
  const log = join(folder, 'log', 'containerd.log')
  const runtime = daemon({ lab, log, place, argv: () => ['containerd', '--config', settings] })
  const images = (...args: readonly string[]): Promise<string> =>
    run(place.command(['ctr', '--namespace=k8s.io', 'images', ...args]), { lab, timeoutMs: 180_000 })
  runtime.start()
  await eventually(async () => {
    if (runtime.ended() === undefined) await images('list', '--quiet')
  }, startMs)
  const ended = runtime.ended()
  if (ended !== undefined) throw new Error(ended)
  await images('import', '--digests=false', options.images)
  return runtime
}

function writeNetwork(folder: string, { pods }: Addresses): void {
  const bridge = {
    type: 'bridge',
    bridge: 'cni0',
    isGateway: true,
    isDefaultGateway: true,
    ipMasq: false,
    hairpinMode: true,
    ipam: { type: 'host-local', ranges: pods.map(subnet => [{ subnet }]) },
  }
  mkdirSync(folder, { recursive: true })
  const list = { cniVersion: '1.0.0', name: 'pods', plugins: [bridge] }
  writeFileSync(join(folder, '10-pods.conflist'), JSON.stringify(list))
}

/**
 * The second version of the format, which containerd 1 and 2 both read. Without `restrict_oom_score_adj` no pod
 * starts where CAP_SYS_RESOURCE is missing, as in many sandboxes.
 */
function runtimeSettings(network: string): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"'
  return `version = 2
oom_score = 0
disabled_plugins = [
  "io.containerd.internal.v1.tracing",
  "io.containerd.snapshotter.v1.aufs",
  "io.containerd.snapshotter.v1.btrfs",
  "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs",
  "io.containerd.tracing.processor.v1.otlp",
]
[grpc]
  address = "${runtimeSocket}"
[${cri}]
  sandbox_image = "${sandboxImage}"
  restrict_oom_score_adj = true
  disable_apparmor = true
[${cri}.containerd]
  snapshotter = "overlayfs"
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
  SystemdCgroup = false
[${cri}.cni]
  bin_dir = "${networkPlugins()}"
  conf_dir = "${network}"
`
}
