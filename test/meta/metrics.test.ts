// docs/metrics.md, held to what the roles expose and to the sources.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parsePolicy } from '../../apiservice/audit/policy.ts'
import { EtcdInstruments } from '../../apiservice/store/etcd/instruments.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { memoryLogger } from '../../src/kernel/log.ts'
import { publishMember } from '../../src/roles/admin-files.ts'
import type { Context, Running } from '../../src/roles/context.ts'
import { startDnsProcess } from '../../src/roles/dns-process.ts'
import { startHub } from '../../src/roles/hub.ts'
import { startMember } from '../../src/roles/member.ts'
import type { RunningServer } from '../../src/roles/server.ts'
import { createToken } from '../../src/roles/token.ts'
import { listening } from '../support/aggregation.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { plain, sectionsOf, sectionText, tableRows } from '../support/markdown.ts'
import { type RecordedMetric, recordedMetrics } from '../support/recorded-metrics.ts'

const page = 'docs/metrics.md'
const role = { hub: 'On the hub', controllers: 'On hub and members with controllers', dns: 'On dns' } as const
const server = 'On every API server'
const changes = 'Of changes under way'
const everyProcess = 'On every process'

/** As the tables of these sections say, by name. */
function documented(...titles: readonly string[]): ReadonlyMap<string, RecordedMetric> {
  const rows = titles.flatMap(title => tableRows(sectionText(page, title)))
  return new Map(
    rows.map(([name = '', type = '', labels = '']) => [
      plain(name),
      // Whether it is one of these is what the tests compare.
      { name: plain(name), type: type as RecordedMetric['type'], labels: labels.split(', ').filter(Boolean) },
    ]),
  )
}

/** Name and type of each family in the text format. */
function exposed(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type] as const),
  )
}

function typesOf(metrics: ReadonlyMap<string, RecordedMetric>): Record<string, string> {
  return Object.fromEntries([...metrics.values()].map(({ name, type }) => [name, type]))
}

type Started = { readonly made: () => readonly RecordedMetric[]; readonly text: () => Promise<string> }

describe('the metrics of a running ClusterSet', () => {
  const folder = temporaryFolder()
  const stop = new AbortController()
  const running: Running[] = []
  const started = new Map<string, Started>()
  const auditTo = (name: string) => ({
    policy: parsePolicy('{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: Metadata}]}'),
    file: { path: join(folder.path, `${name}.audit.log`), maxMegabytes: 1, maxBackups: 1 },
    webhook: {
      kubeconfig: auditKubeconfig(),
      mode: 'batch' as const,
      maxBatchEvents: 10,
      maxWaitMs: 60_000,
      bufferEvents: 10,
      firstBackoffMs: 1_000,
    },
  })
  /** Of a server that is not there. */
  function auditKubeconfig(): string {
    const path = join(folder.path, 'audit.kubeconfig')
    const kubeconfig = {
      'current-context': 'audit',
      contexts: [{ name: 'audit', context: { cluster: 'audit', user: 'audit' } }],
      clusters: [{ name: 'audit', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'audit', user: {} }],
    }
    writeFileSync(path, JSON.stringify(kubeconfig))
    return path
  }

  beforeAll(async () => {
    const port = await freePorts()
    const common = { ...listening, controllers: true }
    const hubOptions = { ...common, audit: auditTo('hub'), home: join(folder.path, 'hub'), port }
    const pools = { clusterSetCidrs: ['10.112.0.0/16'], quarantineMs: 1_000 }
    const election = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 }
    const hub = await launch('hub', context => startHub({ ...hubOptions, ...pools, election }, context))
    started.set('hub', { ...recordOf('hub'), text: () => scraped(hub.running) })
    // Its controllers run when it leads, and the last of them to begin counts addresses.
    await eventually(async () =>
      expect(await scraped(hub.running)).toContain('isthmus_allocate_pool_addresses{'),
    )
    const { identity, addresses } = hub.running
    const asked = { clusterId: 'east', lifetimeMs: 60_000, servers: addresses, clock: systemClock }
    const token = await createToken(hub.admin, { ...asked, ca: identity.caBundle }, stop.signal)
    const home = join(folder.path, 'east')
    const joining = {
      ...common,
      audit: auditTo('east'),
      clusterId: 'east',
      join: token,
      home,
      port: port + 1,
    }
    const member = await launch('member', context => startMember(joining, context))
    started.set('member', { ...recordOf('member'), text: () => scraped(member.running) })
    await publishMember(home, member)
    const answering = { host: '127.0.0.1', port: port + 10, probePort: port + 11, workers: 1, answers: {} }
    const from = { kubeconfig: join(home, 'dns.kubeconfig'), context: undefined, lameDuck: 0 }
    const dns = { ...answering, ...from, home: join(folder.path, 'dns') }
    await launch('dns', context => startDnsProcess(dns, context))
    const url = `http://127.0.0.1:${port + 11}/metrics`
    started.set('dns', { ...recordOf('dns'), text: async () => (await fetch(url)).text() })
  }, 120_000)
  afterAll(async () => {
    for (const one of running.toReversed()) await one.close()
    stop.abort()
    folder.dispose()
  })

  const records = new Map<string, ReturnType<typeof recordedMetrics>>()
  async function launch<R extends Running>(
    name: string,
    start: (context: Context) => Promise<R>,
  ): Promise<R> {
    const metrics = recordedMetrics()
    records.set(name, metrics)
    const one = await start({ clock: systemClock, log: memoryLogger(), metrics, signal: stop.signal })
    running.push(one)
    return one
  }

  function recordOf(name: string): Pick<Started, 'made'> {
    return { made: () => records.get(name)?.made ?? [] }
  }

  async function scraped({ identity, localUrl }: RunningServer): Promise<string> {
    const admin = await identity.client('admin', { user: 'admin', groups: ['system:masters'] })
    const client = apiClient('HTTP/1.1', { url: localUrl, ca: identity.caBundle, identity: admin })
    const { status, text } = await client.send('/metrics')
    await client.close()
    expect(status).toBe(200)
    return text
  }

  describe.each([
    ['hub', [server, role.controllers, role.hub, changes, everyProcess]],
    ['member', [server, role.controllers, changes, everyProcess]],
    ['dns', [role.dns, changes, everyProcess]],
  ] as const)('of %s', (name, titles) => {
    it('are those that are documented, with their types', async () => {
      const text = (await started.get(name)?.text()) ?? ''
      expect(Object.fromEntries(exposed(text))).toEqual(typesOf(documented(...titles)))
    })

    it('are made with the labels that are documented', () => {
      const wanted = documented(...titles)
      const made = started.get(name)?.made() ?? []
      expect(made.length).toBeGreaterThan(3)
      expect(made).toEqual(made.map(metric => wanted.get(metric.name)))
    })
  })

  it('of a store in etcd are those that are documented', () => {
    const metrics = recordedMetrics()
    const instruments = new EtcdInstruments(metrics, systemClock)
    instruments.began('Range')(undefined)
    const wanted = documented('On servers that keep objects in etcd')
    expect(metrics.made).toEqual([...wanted.values()])
  })

  it('show the labels of a sample as they are documented', async () => {
    const wanted = documented(...sectionsOf(page).map(({ title }) => title))
    for (const [name, { text }] of started) {
      for (const [, sample = '', labels = ''] of (await text()).matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
        const metric = wanted.get(sample) ?? wanted.get(sample.replace(/_(bucket|sum|count)$/, ''))
        const names = [...labels.matchAll(/(\w+)="/g)]
          .map(([, label]) => label)
          .filter(label => label !== 'le')
        expect(metric?.labels, `${sample} of ${name}`).toEqual(names)
      }
    }
  })
})

describe('the documented metrics', () => {
  const all = documented(...sectionsOf(page).map(({ title }) => title))

  it('are those whose names stand in the sources', () => {
    const sources = ['src', 'apiservice', 'dns'].flatMap(root =>
      readdirSync(root, { recursive: true, encoding: 'utf8' })
        .filter(file => file.endsWith('.ts'))
        .map(file => readFileSync(join(root, file), 'utf8')),
    )
    const names = sources.flatMap(text => [...text.matchAll(/'((?:isthmus|apiserver|rest_client)_\w+)'/g)])
    const own = [...all.keys()].filter(name => /^(isthmus|apiserver|rest_client)_/.test(name))
    expect(new Set(names.map(([, name]) => name))).toEqual(new Set(own))
    // A name that is put together is found by no search.
    expect(sources.filter(text => /`(isthmus|apiserver|rest_client)_\w*\$\{/.test(text))).toEqual([])
  })

  it('are the ones that alerts speak of', () => {
    const alerts = tableRows(sectionText(page, 'What to alert on'))
    const spoken = alerts.flatMap(([, expression = '', advice = '']) => [
      ...`${expression} ${advice}`.matchAll(/\b(?:isthmus|apiserver|rest_client|nodejs|process)_\w+/g),
    ])
    const known = (name: string): boolean =>
      all.has(name) || all.has(name.replace(/_(bucket|sum|count)$/, ''))
    expect(alerts.length).toBeGreaterThan(10)
    expect(spoken.map(([name]) => name).filter(name => !known(name))).toEqual([])
  })
})
