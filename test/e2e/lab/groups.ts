// Control groups of a lab: below one folder in each hierarchy, which is named after the lab's folder.
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { eventually } from '../../support/eventually.ts'

const root = '/sys/fs/cgroup'

function groupName(folder: string): string {
  return `isthmus-${basename(folder)}-${hash('sha256', folder).slice(0, 8)}`
}

/** The folder that the kubelet of a node makes the groups of pods in, as it is named below each hierarchy. */
export function nodeGroup(folder: string, node: string): string {
  return `/${groupName(folder)}/${node}`
}

export function makeGroups(folder: string, node: string): void {
  for (const hierarchy of hierarchies()) {
    const ofLab = join(hierarchy, groupName(folder))
    const ofNode = join(hierarchy, nodeGroup(folder, node))
    mkdirSync(ofNode, { recursive: true })
    if (hierarchy === root) handDown([hierarchy, ofLab])
    if (basename(hierarchy) === 'cpuset') share(hierarchy, [ofLab, ofNode])
  }
}

/** With cgroup v2 a group has the controllers that its parent hands down. */
function handDown(groups: readonly string[]): void {
  for (const group of groups) {
    const controllers = readFileSync(join(group, 'cgroup.controllers'), 'utf8').trim().split(' ')
    writeFileSync(join(group, 'cgroup.subtree_control'), controllers.map(name => `+${name}`).join(' '))
  }
}

/** With cgroup v1 a new group has no processors and no memory, and takes no process. */
function share(hierarchy: string, groups: readonly string[]): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const all = readFileSync(join(hierarchy, file), 'utf8')
    for (const group of groups) writeFileSync(join(group, file), all)
  }
}

/** Every process in a group of the lab, containers among them. */
export function groupProcesses(folder: string): readonly number[] {
  return groups(folder).flatMap(group => {
    const file = join(group, 'cgroup.procs')
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean).map(Number) : []
  })
}

/** A group is busy for a moment after its last process ended. */
export async function removeGroups(folder: string): Promise<void> {
  await eventually(() => {
    for (const group of groups(folder)) rmdirSync(group)
  })
}

/** Children before their parents. */
function groups(folder: string): readonly string[] {
  return hierarchies()
    .map(hierarchy => join(hierarchy, groupName(folder)))
    .filter(group => existsSync(group))
    .flatMap(group => [...below(group), group])
}

/** With cgroup v2 there is one, with v1 one of each controller. */
function hierarchies(): readonly string[] {
  if (!existsSync(root)) return []
  if (existsSync(join(root, 'cgroup.procs'))) return [root]
  return readdirSync(root)
    .map(name => join(root, name))
    .filter(path => existsSync(join(path, 'cgroup.procs')))
}

function below(group: string): readonly string[] {
  return readdirSync(group, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .flatMap(entry => {
      const path = join(group, entry.name)
      return [...below(path), path]
    })
}
