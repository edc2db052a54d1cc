// What a node needs of this machine, told in sentences before anything is started.
import { spawnSync } from 'node:child_process'
import { networkPlugins } from './container-runtime.ts'
import { labEnvironment } from './daemon.ts'
import { labsFolder } from './folder.ts'
import { findProgram, missingPrograms } from './root-filesystem.ts'

export const debianPackages = [
  'bash',
  'bind9-dnsutils',
  'bind9-host',
  'busybox-static',
  'conntrack',
  'containerd',
  'containernetworking-plugins',
  'curl',
  'iproute2',
  'iptables',
  'netcat-openbsd',
  'nftables',
  'runc',
  'socat',
]

const nodePrograms = [
  'conntrack',
  'containerd',
  'ctr',
  'ip',
  'iptables',
  'mount',
  'nft',
  'nsenter',
  'runc',
  'unshare',
]

/** Each reason why this machine cannot have nodes; none when it can. */
export function reasonsAgainstNodes(): readonly string[] {
  if (process.platform !== 'linux') return [`nodes need Linux, this is ${process.platform}`]
  if (process.getuid?.() !== 0) return ['nodes need root: control planes alone (--no-nodes) do not']
  const missing = [...nodePrograms.filter(name => findProgram(name) === undefined), ...missingPrograms()]
  if (networkPlugins() === undefined) missing.push('the CNI plugin "bridge"')
  return [
    ...(missing.length === 0
      ? []
      : [`nodes need ${missing.join(', ')}: apt-get install ${debianPackages.join(' ')}`]),
    ...(namespacesFail() ?? []),
    ...(/^[/](run|var[/](lib|log))[/]/.test(labsFolder())
      ? [
          `nodes have /run, /var/lib and /var/log for themselves: set ISTHMUS_CACHE to another place than ${labsFolder()}`,
        ]
      : []),
  ]
}

/** On a machine that cannot have nodes, tests that need them are skipped; in CI they run, and fail. */
export function skipsNodes(): boolean {
  return (process.env.CI ?? '') === '' && reasonsAgainstNodes().length > 0
}

/** In namespaces of its own, a process must be able to mount, to make links and to write rules. */
function namespacesFail(): readonly string[] | undefined {
  const kinds = ['--net', '--mount', '--uts', '--pid', '--fork', '--mount-proc']
  const script =
    'mount -t tmpfs tmpfs /run && ip link add br0 type bridge && ip link add probe0 type veth peer name probe1 && nft add table ip lab'
  const ran = spawnSync('unshare', [...kinds, 'sh', '-c', script], {
    encoding: 'utf8',
    env: labEnvironment(''),
  })
  if (ran.status === 0) return undefined
  return [
    `nodes need namespaces, bridges and nftables of the kernel: ${ran.error?.message ?? ran.stderr.trim()}`,
  ]
}
