// Starts that meet what somebody else has changed, and starts that fail late.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { MemberClusterKind } from '../../src/api/kinds/member-cluster.ts'
import { NamespaceKind } from '../../src/api/kinds/namespace.ts'
import { type Cluster, resource } from '../../src/cluster/cluster.ts'
import { never } from '../../src/kernel/abort.ts'
import { type Fleet, freePorts, startFleet, temporaryFolder } from '../support/fleet.ts'
import { contextClient } from '../support/fleet-client.ts'
import { listenAt, runRole, runToEnd } from '../support/role-process.ts'

/** Whole fleets start in every test, on machines that are busy with others. */
vi.setConfig({ testTimeout: 120_000 })

const memberClusters = resource(MemberClusterKind)
const west = { name: 'west' }
const folder = temporaryFolder()
let count = 0
let home: string
let port: number
const started: Fleet[] = []

beforeEach(async () => {
  count += 1
  home = join(folder.path, `home-${count}`)
  port = await freePorts()
})
afterEach(async () => {
  await Promise.all(started.splice(0).map(fleet => fleet.stop()))
})
afterAll(() => folder.dispose())

async function fleetAtHome(): Promise<Fleet> {
  const fleet = await startFleet({ home, port })
  started.push(fleet)
  return fleet
}

describe('a start that fails when its servers listen', () => {
  it.each([
    ['fleet', []],
    ['hub', ['--host', '127.0.0.1']],
    ['apiserver', ['--host', '127.0.0.1']],
  ])('ends the process: %s', async (role, args) => {
    mkdirSync(join(home, 'kubeconfig', 'in-the-way'), { recursive: true })
    const { code, output } = await runToEnd([role, '--home', home, '--port', String(port), ...args])
    expect(output).toContain('"listening"')
    expect(output).toMatch(/^isthmus: .*kubeconfig/m)
    expect(code).toBe(1)
  })

  it.each([/"listening"/, /"member joined"/])('ends at a signal that comes at %s', async line => {
    const { code, output } = await runToEnd(['fleet', '--home', home, '--port', String(port)], line)
    expect(output).toContain('"stopped"')
    expect(code).toBe(0)
  })
})

/** What a client of the hub does. */
async function onHub(fleet: Fleet, act: (hub: Cluster) => Promise<unknown>): Promise<void> {
  const hub = await contextClient(fleet.kubeconfig, 'hub')
  try {
    await act(hub)
  } finally {
    hub.close()
  }
}

function warnings(fleet: Fleet): readonly unknown[] {
  return fleet.output
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line))
    .filter(({ message, level }) => level === 'warn' && /joining again$/.test(message))
    .map(({ message, cluster }) => `${cluster}: ${message}`)
}

describe('a fleet that starts again', () => {
  async function restarted(between: (first: Fleet) => Promise<void> | void): Promise<Fleet> {
    const first = await fleetAtHome()
    await between(first)
    await first.stop()
    return fleetAtHome()
  }

  async function expectJoined(fleet: Fleet): Promise<void> {
    await onHub(fleet, async hub => {
      const { items } = await hub.list(memberClusters, {}, never)
      expect(items.map(({ metadata, spec }) => [metadata.name, spec.accepted])).toEqual([
        ['east', true],
        ['west', true],
      ])
    })
    expect(await fleet.stop()).toBe(0)
  }

  it('finds its hub on another port', async () => {
    const fleet = await restarted(async () => {
      port = await freePorts()
    })
    expect(warnings(fleet)).toEqual([])
    await expectJoined(fleet)
  })

  it('joins a member again that was removed', async () => {
    const fleet = await restarted(first =>
      onHub(first, hub => hub.delete(memberClusters, west, { signal: never })),
    )
    expect(warnings(fleet)).toEqual(['west: the hub does not know this cluster any more, joining again'])
    await expectJoined(fleet)
  })

  it('joins a member again whose certificates were revoked', async () => {
    const revoked = { spec: { credentialGeneration: 2_000_000_000 } }
    const fleet = await restarted(first =>
      onHub(first, hub => hub.mergePatch(memberClusters, west, revoked, { signal: never })),
    )
    expect(warnings(fleet)).toEqual(['west: the hub does not know this cluster any more, joining again'])
    await expectJoined(fleet)
  })

  it.each([
    ['hub/store', 'the hub does not know this cluster any more, joining again'],
    ['hub', 'the hub has another authority than before, joining again'],
  ])('joins its members again to a hub that lost %s', async (lost, warning) => {
    const first = await fleetAtHome()
    await first.stop()
    rmSync(join(home, lost), { recursive: true })
    const fleet = await fleetAtHome()
    expect(warnings(fleet).toSorted()).toEqual([`east: ${warning}`, `west: ${warning}`])
    await expectJoined(fleet)
  })

  it('is ready while a member is shut out, and leaves it so', async () => {
    const evicted = { spec: { accepted: false } }
    const fleet = await restarted(first =>
      onHub(first, hub => hub.mergePatch(memberClusters, west, evicted, { signal: never })),
    )
    expect(warnings(fleet)).toEqual([])
    await onHub(fleet, async hub => {
      expect((await hub.get(memberClusters, west, never)).spec.accepted).toBe(false)
    })
    const cluster = await contextClient(fleet.kubeconfig, 'west')
    try {
      expect((await cluster.list(resource(NamespaceKind), {}, never)).items).not.toEqual([])
    } finally {
      cluster.close()
    }
    expect(await fleet.stop()).toBe(0)
  })
})

describe('the program', () => {
  it.each([
    [['fleet', '--members', 'hub,east'], /^isthmus: --members must not name a member "hub"/],
    [['token', 'create', '--expires', '0s'], /^isthmus: --expires must be at least 1m, not "0s"$/],
    [
      ['hub', '--service-cidr', '10.112.0.0/24'],
      /^isthmus: --clusterset-cidr 10\.112\.0\.0\/16 overlaps --service/,
    ],
  ])('refuses %j', async (args, sentence) => {
    const { code, output } = await runToEnd([...args, '--home', home])
    expect(output).toMatch(sentence)
    expect(code).toBe(1)
  })

  it('tells its version', async () => expect(await runRole(['--version'])).toBe(manifest.version))

  it('says on the ready line of a hub what works here', async () => {
    const { output } = await runToEnd(['hub', ...listenAt(home, port)], /^ready/)
    expect(output).toContain(`ready: node src/main.ts token create --home ${home} --cluster ID, or kubectl`)
  })
})
