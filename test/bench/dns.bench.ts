// What one worker answers, beside a bare socket that knows one answer; and what a zone costs.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { serviceFacts } from '../../dns/source/facts.ts'
import { compileService } from '../../dns/zone/compile.ts'
import { ZoneSnapshot } from '../../dns/zone/snapshot.ts'
import { aHeadless, aSlice } from '../support/dns-objects.ts'
import { settings } from '../support/dns-zone.ts'
import { temporaryFolder } from '../support/fleet.ts'
import type { Bench, Row } from './bench.ts'
import { quantile } from './load.ts'

const run = promisify(execFile)
const rounds = 3
const seconds = 4
const services = 1000

type Server = { readonly child: ChildProcess; readonly port: number }
type Measured = {
  readonly perSecond: number
  readonly perCpuSecond: number
  readonly lost: number
  readonly latenciesMs: readonly number[]
}

async function start(script: string, ...args: readonly string[]): Promise<Server> {
  const child = spawn(process.execPath, [join(import.meta.dirname, script), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, port: Number(String(line).split(' ')[1]) }
}

async function stop({ child }: Server): Promise<void> {
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** User and system time of all its threads, in seconds; the kernel counts in hundredths. */
function cpuSeconds({ child }: Server): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function ask(server: Server, file: string, ...more: readonly string[]): Promise<Measured> {
  const before = cpuSeconds(server)
  const args = [
    '-s',
    '127.0.0.1',
    '-p',
    String(server.port),
    '-d',
    file,
    '-l',
    String(seconds),
    '-c',
    '8',
    '-q',
    '100',
  ]
  const { stdout } = await run('dnsperf', [...args, ...more], { maxBuffer: 256 * 1024 * 1024 })
  const cpu = cpuSeconds(server) - before
  const figure = (pattern: RegExp): number => Number(pattern.exec(stdout)?.[1])
  const latenciesMs = [...stdout.matchAll(/^> \S+ \S+ \S+ ([\d.]+)$/gm)].map(match => 1000 * Number(match[1]))
  return {
    perSecond: figure(/Queries per second:\s+([\d.]+)/),
    perCpuSecond: figure(/Queries completed:\s+(\d+)/) / cpu,
    lost: figure(/Queries lost:\s+(\d+)/),
    latenciesMs: latenciesMs.sort((one, other) => one - other),
  }
}

function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((one, other) => one - other),
    0.5,
  )
}

/** Rounds in turn, so that what else the machine does falls on both. */
async function compare(ours: Server, bare: Server, file: string): Promise<readonly Row[]> {
  const udp: Measured[] = []
  const floor: Measured[] = []
  const tcp: Measured[] = []
  for (let round = 0; round < rounds; round++) {
    udp.push(await ask(ours, file))
    floor.push(await ask(bare, file))
    tcp.push(await ask(ours, file, '-m', 'tcp'))
  }
  const lost = [...udp, ...tcp].reduce((sum, measured) => sum + measured.lost, 0)
  const of = (all: readonly Measured[], what: 'perSecond' | 'perCpuSecond'): number =>
    median(all.map(measured => measured[what]))
  return [
    { what: 'UDP, one worker', unit: '/s', value: of(udp, 'perSecond'), baseline: of(floor, 'perSecond') },
    {
      what: 'UDP, a second of CPU',
      unit: '',
      value: of(udp, 'perCpuSecond'),
      baseline: of(floor, 'perCpuSecond'),
    },
    { what: 'TCP, one worker', unit: '/s', value: of(tcp, 'perSecond'), baseline: of(floor, 'perSecond') },
    {
      what: 'TCP, a second of CPU',
      unit: '',
      value: of(tcp, 'perCpuSecond'),
      baseline: of(floor, 'perCpuSecond'),
    },
    { what: 'lost', unit: '', value: lost },
  ]
}

async function latency(ours: Server, bare: Server, file: string): Promise<readonly Row[]> {
  const at5000 = (server: Server): Promise<Measured> => ask(server, file, '-Q', '5000', '-v')
  const p99 = ({ latenciesMs }: Measured): number => quantile(latenciesMs, 0.99)
  const quiet: number[] = []
  const floor: number[] = []
  for (let round = 0; round < rounds; round++) {
    quiet.push(p99(await at5000(ours)))
    floor.push(p99(await at5000(bare)))
  }
  ours.child.kill('SIGUSR2')
  const busy = await at5000(ours)
  return [
    { what: 'UDP at 5,000/s, p99', unit: 'ms', value: median(quiet), baseline: median(floor) },
    {
      what: 'the same, main thread busy 100 ms a second',
      unit: 'ms',
      value: p99(busy),
      baseline: median(floor),
    },
  ]
}

export const dnsAnswers: Bench = {
  name: 'dns answers',
  async run() {
    if (spawnSync('dnsperf', ['-h']).error !== undefined)
      throw new Error('dnsperf is not installed (Debian: dnsperf)')
    const folder = temporaryFolder()
    const file = join(folder.path, 'queries')
    writeFileSync(
      file,
      Array.from({ length: services }, (_, i) => `s${i}.prod.svc.clusterset.local A\n`).join(''),
    )
    const ours = await start('dns-server.ts', String(services), '0', '1')
    const bare = await start('bare-dns.ts')
    try {
      return [...(await compare(ours, bare, file)), ...(await latency(ours, bare, file))]
    } finally {
      await Promise.all([stop(ours), stop(bare)])
      folder.dispose()
    }
  },
}

const many = 10_000
const endpoints = 10

function factsOf(service: number) {
  const hosts = Array.from({ length: endpoints }, (_, i) => `h-${i} 10.${service >> 8}.${service & 255}.${i}`)
  const key = `prod/s${service}`
  return serviceFacts(aHeadless(key), [aSlice(key, 'east', ['http/TCP/80'], hosts)])
}

/** Octets that the zone holds, its records' bytes included. */
function heldOctets(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Of the whole process: what others do to the machine at the same time does not count. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Puts services into a zone one by one, as messages bring them. */
function fill(
  zone: ZoneSnapshot,
  services: number,
): { readonly compileMs: number; readonly applyMs: number } {
  let compileMs = 0
  let applyMs = 0
  for (let i = 0; i < services; i++) {
    const facts = factsOf(i)
    const start = cpuMs()
    const { service } = compileService(facts, settings)
    const compiled = cpuMs()
    const put = structuredClone([service])
    const received = cpuMs()
    zone.apply({ serial: 1, put, removed: [] })
    compileMs += compiled - start
    applyMs += cpuMs() - received
  }
  return { compileMs, applyMs }
}

export const dnsZone: Bench = {
  name: 'dns zone',
  run() {
    fill(new ZoneSnapshot(settings), 1000)
    const before = heldOctets()
    const zone = new ZoneSnapshot(settings)
    const first = fill(zone, many)
    const zoneOctets = heldOctets() - before
    const again = fill(zone, many)
    const rows: Row[] = [
      { what: `${many} services of ${endpoints}, compiled`, unit: 'ms CPU', value: first.compileMs },
      { what: `their ${zone.names} names, taken in`, unit: 'ms CPU', value: first.applyMs },
      { what: 'one service changed', unit: 'ms CPU', value: (again.compileMs + again.applyMs) / many },
    ]
    if (globalThis.gc === undefined) return Promise.resolve(rows)
    const megabytes = ((zoneOctets / zone.names) * 10_000) / 1e6
    return Promise.resolve([...rows, { what: '10,000 names in a worker', unit: 'MB', value: megabytes }])
  },
}
