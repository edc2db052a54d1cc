import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleObjects } from '../../support/dns-objects.ts'
import { type RunningDns, runDns, servicesCluster } from '../../support/dns-responder.ts'
import { eventually } from '../../support/eventually.ts'

const run = promisify(execFile)

/** Says so when a tool is not there. */
function isMissing(tool: string, versionFlag: string): boolean {
  const missing = spawnSync(tool, [versionFlag]).error !== undefined
  if (missing)
    process.stdout.write(`skipped: ${tool} is not installed (Debian: bind9-dnsutils, knot-dnsutils)\n`)
  return missing
}

let started: RunningDns
beforeAll(async () => {
  const services = servicesCluster()
  await services.put(exampleObjects())
  started = await runDns({ cluster: services.cluster, nsid: 'dns-0' })
  await eventually(() => expect(started.dns.ready()).toBe(true))
})
afterAll(() => started.dns.close())

/** Lines without comments and with single spaces, sorted. */
function lines(text: string): readonly string[] {
  return text
    .split('\n')
    .map(line => line.replaceAll(/\s+/g, ' ').trim())
    .filter(line => line !== '' && !line.startsWith(';'))
    .sort((one, other) => (one < other ? -1 : 1))
}

const web = 'web.prod.svc.clusterset.local.'
const records: readonly (readonly [name: string, type: string, answer: readonly string[]])[] = [
  [web, 'A', [`${web} 5 IN A 10.42.0.10`]],
  [web, 'AAAA', [`${web} 5 IN AAAA fd00::10`]],
  [
    'db.prod.svc.clusterset.local.',
    'A',
    ['10.1.0.1', '10.1.0.2', '10.2.0.1'].map(ip => `db.prod.svc.clusterset.local. 5 IN A ${ip}`),
  ],
  [
    '_pg._tcp.db.prod.svc.clusterset.local.',
    'SRV',
    ['db-0.east', 'db-0.west', 'db-1.east'].map(
      host =>
        `_pg._tcp.db.prod.svc.clusterset.local. 5 IN SRV 0 100 5432 ${host}.db.prod.svc.clusterset.local.`,
    ),
  ],
  [
    'h-0.c1.reg.two.prod.svc.clusterset.local.',
    'A',
    ['h-0.c1.reg.two.prod.svc.clusterset.local. 5 IN A 10.3.0.1'],
  ],
  ['dns-version.clusterset.local.', 'TXT', ['dns-version.clusterset.local. 28800 IN TXT "1.0.0"']],
  ['clusterset.local.', 'NS', ['clusterset.local. 5 IN NS ns.dns.clusterset.local.']],
  [web, 'TXT', []],
  ['nope.prod.svc.clusterset.local.', 'A', []],
]

const quiet = ['+noall', '+answer']

function describeTool(tool: string, versionFlag: string): void {
  describe.skipIf(isMissing(tool, versionFlag))(tool, () => toolTests(tool))
}

describeTool('dig', '-v')
describeTool('kdig', '-V')

function toolTests(tool: string): void {
  const ask = async (...more: readonly string[]): Promise<string> =>
    (await run(tool, ['@127.0.0.1', '-p', String(started.port), ...more])).stdout

  it.each(records)('reads %s %s over UDP and TCP', async (name, type, answer) => {
    for (const transport of ['+notcp', '+tcp']) {
      expect(lines(await ask(...quiet, transport, name, type))).toEqual(answer)
    }
  })

  it('asks again over TCP when the answer is cut', async () => {
    const text = await ask(...quiet, 'big.prod.svc.clusterset.local.', 'A')
    expect(lines(text)).toHaveLength(1200)
    expect(
      lines(await ask(...quiet, '+ignore', '+noedns', 'big.prod.svc.clusterset.local.', 'A')),
    ).toHaveLength(29)
  })

  it('sees the server and the SOA', async () => {
    const text = await ask('+nsid', '+norecurse', 'nope.prod.svc.clusterset.local.', 'A')
    expect(text).toContain('NXDOMAIN')
    expect(text).toMatch(/flags: qr aa;/i)
    expect(text).toMatch(
      /clusterset\.local\.\s+5\s+IN\s+SOA\s+ns\.dns\.clusterset\.local\. hostmaster\.clusterset\.local\. \d+ 7200 1800 86400 5/,
    )
    expect(text).toMatch(/NSID.*dns-0|64 6e 73 2d 30/i)
  })
}

describe.skipIf(isMissing('nslookup', '-version'))('nslookup, as the MCS conformance suite runs it', () => {
  const ask = async (type: string, name: string): Promise<string> =>
    (await run('nslookup', [`-port=${started.port}`, `-type=${type}`, name, '127.0.0.1'])).stdout

  it('finds the addresses of a service', async () => {
    const addresses = [...(await ask('A', 'db.prod.svc.clusterset.local.')).matchAll(/^Address: (\S+)$/gm)]
    expect(new Set(addresses.map(match => match[1]))).toEqual(new Set(['10.1.0.1', '10.1.0.2', '10.2.0.1']))
  })

  it('finds one SRV for two protocols on one port', async () => {
    const services = [...(await ask('SRV', 'api.prod.svc.clusterset.local.')).matchAll(/service = (.*)$/gm)]
    expect(services.map(match => match[1])).toEqual(['0 100 53 api.prod.svc.clusterset.local.'])
  })

  it('finds targets that begin with the dashed address', async () => {
    const text = await ask('SRV', 'anon.prod.svc.clusterset.local.')
    const targets = [...text.matchAll(/service = \d+ \d+ \d+ (\S+)$/gm)].map(match => match[1] ?? '')
    for (const address of ['10.1.0.7', 'fd00:1::7', 'fd00:1::']) {
      const dashed = address.replaceAll(/[.:]/g, '-')
      expect(targets.some(target => target.startsWith(dashed))).toBe(true)
    }
    expect(targets).toHaveLength(3)
  })
})
