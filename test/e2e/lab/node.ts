// What a node is before anything runs on it: namespaces that look like a machine, plugged into the fabric.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressesOf, type ClusterName, clusterNames, fabric } from './addresses.ts'
import { nodeName } from './cluster.ts'
import { makeGroups } from './groups.ts'
import { configureLinks, makeNamespaces, type Namespaces } from './namespaces.ts'

/** What kubelet writes to settings of the whole machine goes into files that lie over them. */
const machineSettings = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
}

/** Folders that a node has for itself. `/run` is empty at each start, as on a machine. */
const ownFolders = ['var/lib', 'var/log']

export type NodeOptions = {
  readonly lab: string
  readonly name: ClusterName
  readonly folder: string
  readonly tools: string
}

/** The fabric: a bridge that nodes are plugged into, with an address for what runs beside them. */
export async function makeFabric(lab: string, tools: string): Promise<Namespaces> {
  const folder = join(lab, 'fabric')
  const made = await makeNamespaces({ lab, name: 'fabric', folder, tools, setUp: [] })
  await configureLinks(lab, made.pid, [
    'link add br0 type bridge',
    `addr add ${fabric.ipv4}/${fabric.ipv4Length} dev br0`,
    `addr add ${fabric.ipv6}/${fabric.ipv6Length} dev br0 nodad`,
    'link set br0 up',
  ])
  return made
}

/** An empty node, plugged into the fabric. */
export async function makeNode(options: NodeOptions, fabricPid: number): Promise<Namespaces> {
  const { folder, lab, name, tools } = options
  makeGroups(lab, name)
  const made = await makeNamespaces({
    lab,
    name: nodeName(name),
    folder,
    tools,
    setUp: [...ownMounts(folder), ...machineSettingMounts(folder), ...forwarding],
  })
  const link = `node-${name}`
  await configureLinks(lab, fabricPid, [
    `link add ${link} type veth peer name eth0 netns ${made.pid}`,
    `link set ${link} master br0 up`,
  ])
  await configureLinks(lab, made.pid, linkLines(name))
  return made
}

function ownMounts(folder: string): readonly string[] {
  for (const own of ownFolders) mkdirSync(join(folder, 'root', own), { recursive: true })
  mkdirSync(join(folder, 'root/var/log/pods'), { recursive: true })
  return [
    // Mounts of pods have to reach containers that run already; nothing leaves this namespace.
    'mount --make-rshared /',
    ...ownFolders.map(own => `mount --bind ${join(folder, 'root', own)} /${own}`),
    'mount -t tmpfs tmpfs /run',
    'mkdir -p /run/lock /run/netns',
  ]
}

function machineSettingMounts(folder: string): readonly string[] {
  return Object.entries(machineSettings).map(([name, value]) => {
    const file = join(folder, 'root', name.replaceAll('/', '_'))
    writeFileSync(file, `${value}\n`)
    return `! [ -e /proc/sys/${name} ] || mount --bind ${file} /proc/sys/${name}`
  })
}

const forwarding = [
  'echo 1 > /proc/sys/net/ipv4/ip_forward',
  'echo 1 > /proc/sys/net/ipv6/conf/all/forwarding',
]

/** Every other node is the way to the pods there: the routed network that the product asks for. */
function linkLines(name: ClusterName): readonly string[] {
  const own = addressesOf(name)
  const others = clusterNames.filter(other => other !== name).map(addressesOf)
  return [
    'link set eth0 up',
    `addr add ${own.node[0]}/${fabric.ipv4Length} dev eth0`,
    `addr add ${own.node[1]}/${fabric.ipv6Length} dev eth0 nodad`,
    `route add default via ${fabric.ipv4}`,
    `route add ::/0 via ${fabric.ipv6}`,
    ...others.flatMap(({ node, pods }) => [
      `route add ${pods[0]} via ${node[0]}`,
      `route add ${pods[1]} via ${node[1]}`,
    ]),
  ]
}
