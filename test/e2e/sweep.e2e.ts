import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { skipsNodes } from './lab/capabilities.ts'
import { labsFolder } from './lab/folder.ts'
import { sweep } from './lab/sweep.ts'

// The number is for two runs at once: nobody owns this lab, on purpose.
const name = `crashed-${process.pid}`
const folder = join(labsFolder(), name)

function lab(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['hack/e2e.ts', ...args, `--name=${name}`], { stdio: 'inherit' })
}

type Process = { readonly pid: number; readonly command: string; readonly namespaces: readonly string[] }

/** Those that carry the lab's name; read here in another way than the sweep does. */
function processes(): readonly Process[] {
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .flatMap(entry => {
      try {
        const cgroups = readFileSync(`/proc/${entry}/cgroup`, 'utf8')
        const environment = readFileSync(`/proc/${entry}/environ`, 'utf8')
        if (!cgroups.includes(`isthmus-${name}-`) && !environment.includes(folder)) return []
        const command = readFileSync(`/proc/${entry}/comm`, 'utf8').trim()
        const namespaces = ['net', 'mnt', 'pid'].map(kind => readlinkSync(`/proc/${entry}/ns/${kind}`))
        return [{ pid: Number(entry), command, namespaces }]
      } catch {
        // It ended while it was looked at.
        return []
      }
    })
}

/** Namespaces that some process of this machine is in. */
function namespacesInUse(): ReadonlySet<string> {
  const links = readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .flatMap(entry => ['net', 'mnt', 'pid'].map(kind => `/proc/${entry}/ns/${kind}`))
  return new Set(
    links.flatMap(link => {
      try {
        return [readlinkSync(link)]
      } catch {
        // It ended while it was looked at.
        return []
      }
    }),
  )
}

function groups(): readonly string[] {
  const root = '/sys/fs/cgroup'
  return readdirSync(root)
    .flatMap(entry =>
      existsSync(join(root, entry, 'cgroup.procs')) ? readdirSync(join(root, entry)) : [entry],
    )
    .filter(entry => entry.startsWith(`isthmus-${name}-`))
}

/** Of this machine: those of the lab are in namespaces of its own. */
function mounts(): readonly string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  return lines.filter(line => line.includes(folder) || line.includes('nsfs'))
}

async function expectNothingOf(before: readonly Process[], mountsBefore: readonly string[]): Promise<void> {
  expect(processes()).toEqual([])
  const own = namespacesOf(before)
  await eventually(() => {
    const used = namespacesInUse()
    expect(own.filter(namespace => used.has(namespace))).toEqual([])
  })
  expect(groups()).toEqual([])
  expect(mounts()).toEqual(mountsBefore)
  expect(Object.keys(networkInterfaces()).filter(link => link.startsWith('node-'))).toEqual([])
  expect(existsSync(folder)).toBe(false)
}

function namespacesOf(found: readonly Process[]): readonly string[] {
  const [net, mnt, pid] = ['net', 'mnt', 'pid'].map(kind => readlinkSync(`/proc/self/ns/${kind}`))
  const inherited = new Set([net, mnt, pid])
  return [...new Set(found.flatMap(({ namespaces }) => namespaces))].filter(
    namespace => !inherited.has(namespace),
  )
}

function kill(command: string): void {
  const found = processes().filter(process => process.command === command)
  expect(found, command).not.toEqual([])
  for (const { pid } of found) process.kill(pid, 'SIGKILL')
}

describe.skipIf(skipsNodes())('e2e:down', () => {
  afterEach(() => sweep(folder))

  it('leaves nothing of a lab whose parts were killed', async () => {
    const mountsBefore = mounts()
    expect(await once(lab('up', '1'), 'exit')).toEqual([0, null])
    const before = processes()
    expect(namespacesOf(before).length).toBeGreaterThan(5)
    expect(groups()).not.toEqual([])
    for (const command of ['kubelet', 'containerd', 'kube-apiserver', 'etcd']) kill(command)
    // Somebody tried to help.
    rmSync(folder, { recursive: true, force: true })
    expect(await once(lab('down'), 'exit')).toEqual([0, null])
    await expectNothingOf(before, mountsBefore)
    // Nothing is left to do, and that is no failure.
    expect(await once(lab('down'), 'exit')).toEqual([0, null])
  })

  it('leaves nothing of a lab that was killed while it came up', async () => {
    const mountsBefore = mounts()
    const starting = lab('up', '1')
    const killed = once(starting, 'exit')
    await eventually(() => expect(processes().map(({ command }) => command)).toContain('containerd'), 60_000)
    starting.kill('SIGKILL')
    await killed
    const before = processes()
    expect(await once(lab('down'), 'exit')).toEqual([0, null])
    await expectNothingOf(before, mountsBefore)
  })
})
