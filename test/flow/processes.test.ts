// What is left when one of several processes is killed or shut out.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { memberClusters, serviceExports } from '../support/memory-fleet.ts'
import { propagationIn } from '../support/propagation.ts'
import { adminOf, listenAt, runRole, runToEnd } from '../support/role-process.ts'
import { type Member, members, type SeparateProcesses, separateProcesses } from './deployment.ts'
import { Shop, signal } from './shop.ts'

describe('separate processes', () => {
  let deployment: SeparateProcesses
  let shop: Shop
  beforeAll(async () => {
    deployment = await separateProcesses()
    shop = new Shop(deployment)
    for (const member of members) await shop.open(member)
  }, 120_000)
  afterAll(() => deployment.stop())

  const own = ['publish', 'told'].flatMap(stage => [`export ${stage} one`, `endpoints ${stage} one`])
  const others = [
    'export import one',
    'export to_import two',
    'endpoints import one',
    'endpoints to_import two',
  ]
  const answered = ['export answer one', 'endpoints answer one', 'endpoints to_dns two']

  /** Of the hub, a member, or the DNS of east. */
  const metricsOf = async (who: string): Promise<string> => {
    if (who === 'dns') {
      const probe = `http://127.0.0.1:${deployment.dnsPort('east') + 5}/metrics`
      return (await fetch(probe)).text()
    }
    const port = deployment.dnsPort('east') - 10 + ['hub', ...members].indexOf(who)
    const client = apiClient('HTTP/1.1', adminOf(deployment.homeOf(who), port))
    const { text } = await client.send('/metrics')
    await client.close()
    return text
  }

  const readyOf = async (member: Member, name: string): Promise<string> => {
    const { items } = await deployment.client(member).list(serviceExports, {}, signal())
    const found = items.find(({ metadata }) => metadata.name === name)
    const ready = found?.status?.conditions?.find(({ type }) => type === 'Ready')
    return `${ready?.status} ${ready?.reason} ${ready?.message}`
  }

  it('go on without a member, whose DNS keeps answering, also when it starts anew', async () => {
    await shop.export('west', 'db', { addresses: ['10.2.0.41'], isHeadless: true })
    await shop.expectAnswers('db', ['10.2.0.41'])
    await deployment.kill('east')
    await shop.expectAnswers('db', ['10.2.0.41'])
    const snapshot = join(deployment.homeOf('east-dns'), 'services.json')
    await eventually(() => expect(readFileSync(snapshot, 'utf8')).toContain('10.2.0.41'), 30_000)
    await deployment.kill('east dns')
    await deployment.start('east dns')
    await shop.expectAnswers('db', ['10.2.0.41'])
    await shop.move('west', 'db', '10.2.0.42')
    await shop.expectAnswers('db', ['10.2.0.42'], ['west'])
    await deployment.start('east')
    await shop.expectAnswers('db', ['10.2.0.42'])
  }, 180_000)

  it('tell of their health', async () => {
    const probe = `http://127.0.0.1:${deployment.dnsPort('east') + 5}`
    for (const path of ['/livez', '/readyz']) expect((await fetch(probe + path)).status).toBe(200)
    expect(await (await fetch(`${probe}/metrics`)).text()).toContain('process_resident_memory_bytes')
    expect((await fetch(`${probe}/nothing`)).status).toBe(404)
  })

  it('shut an evicted member out at once, and let it back in', async () => {
    const west = { name: 'west' }
    await shop.expectAnswers('db', ['10.2.0.42'])
    const evicted = { spec: { accepted: false } }
    await deployment.client('hub').mergePatch(memberClusters, west, evicted, { signal: signal() })
    await eventually(async () => {
      await expect(shop.importOf('east', 'db')).rejects.toMatchObject({ reason: 'NotFound' })
    })
    const exports = await deployment.client('west').list(serviceExports, {}, signal())
    expect(exports.items.map(({ metadata }) => metadata.name)).toEqual(['db'])
    const refused = 'False Failed this cluster is not accepted by the hub'
    await eventually(async () => expect(await readyOf('west', 'db')).toBe(refused), 30_000)
    const accepted = { spec: { accepted: true } }
    await deployment.client('hub').mergePatch(memberClusters, west, accepted, { signal: signal() })
    await shop.expectAnswers('db', ['10.2.0.42'])
    await eventually(async () => expect(await readyOf('west', 'db')).toMatch(/^True Exported/), 30_000)
  }, 180_000)

  it('refuse a token that is meant for another cluster, and say so', async () => {
    const folder = temporaryFolder()
    const hub = deployment.homeOf('hub')
    const token = await runRole(['token', 'create', '--home', hub, '--cluster', 'east'])
    const north = ['--cluster-id', 'north', '--join', token, ...listenAt(folder.path, await freePorts())]
    const { code, output } = await runToEnd(['member', ...north])
    expect(code).toBe(1)
    expect(output).toMatch(/^isthmus: .*the join token is for the cluster "east", not "north"$/)
    folder.dispose()
  }, 180_000)

  it('tell how long changes of exports and endpoints are under way, stage by stage', async () => {
    await shop.export('west', 'log', { addresses: ['10.2.0.51'], isHeadless: true })
    await shop.expectAnswers('log', ['10.2.0.51'])
    await shop.move('west', 'log', '10.2.0.52')
    await shop.expectAnswers('log', ['10.2.0.52'])
    const stages = { hub: ['export merge one'], west: own, east: others, dns: answered }
    for (const [who, wanted] of Object.entries(stages)) {
      await eventually(async () => {
        const told = await propagationIn({ text: () => metricsOf(who) })
        expect(Object.keys(told)).toEqual(expect.arrayContaining([...wanted]))
        for (const stage of wanted) {
          const [count, seconds] = (told[stage] ?? '').split(' × ').map(Number)
          expect(count, `${stage} of ${who}`).toBeGreaterThan(0)
          // Processes of one machine share its clock, and nothing here took an hour.
          expect(seconds, `${stage} of ${who}`).toBeGreaterThanOrEqual(0)
          expect(seconds, `${stage} of ${who}`).toBeLessThan(3_600)
        }
      }, 30_000)
    }
  }, 180_000)
})
