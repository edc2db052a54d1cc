// musl's resolver, that of Alpine: it asks for A and AAAA at once, and fails when one of them does not exist.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/fleet.ts'
import { canIsolate, runIsolated } from './isolated.ts'
import { hasPeer } from './peer.ts'

const zone = 'svc.clusterset.local'

describe.skipIf(!hasPeer('musl-gcc', 'musl-tools') || !canIsolate())("musl's resolver", () => {
  const folder = temporaryFolder()
  const program = join(folder.path, 'getaddrinfo')
  let found: ReadonlyMap<string, string>
  beforeAll(() => {
    execFileSync('musl-gcc', ['-static', '-o', program, 'test/peers/musl/getaddrinfo.c'])
    const names = [...rows.map(([name]) => name), 'big']
    const lines = runIsolated(folder.path, [program, ...names])
      .trim()
      .split('\n')
    found = new Map(
      lines.map(line => {
        const [name = '', ...said] = line.split(': ')
        return [name, said.join(': ')]
      }),
    )
  }, 120_000)
  afterAll(() => folder.dispose())

  const rows = [
    [`web.prod.${zone}`, '10.42.0.10 fd00::10'],
    ['web', '10.42.0.10 fd00::10'],
    // One family: the other must be NODATA.
    ['one', '10.42.0.12'],
    ['v6', 'fd00:1::9'],
    ['db', '10.1.0.1 10.1.0.2 10.2.0.1'],
    [`db-0.west.db.prod.${zone}.`, '10.2.0.1'],
    ['d-0.east.dual', '10.1.0.8 fd00:1::8'],
    ['h-0.c1.reg.two', '10.3.0.1'],
    [`nope.prod.${zone}.`, 'Name does not resolve'],
    [`zero.prod.${zone}.`, 'Name does not resolve'],
    [`pend.prod.${zone}.`, 'Name does not resolve'],
    [`_http._tcp.web.prod.${zone}.`, 'Name does not resolve'],
  ] as const
  it.each(rows)('finds for %s: %s', (name, said) => {
    const sorted = said.includes('resolve')
      ? found.get(name)
      : found.get(name)?.split(' ').toSorted().join(' ')
    expect(sorted).toBe(said)
  })

  it('takes what fits of a set that does not: before 1.2.4 it knew no TCP, and it never takes more than 48', () => {
    const addresses = found.get('big')?.split(' ') ?? []
    for (const address of addresses) expect(address).toMatch(/^10\.9\.[0-4]\.\d+$/)
    expect(new Set(addresses).size).toBe(addresses.length)
    expect(addresses.length).toBeGreaterThanOrEqual(29)
    expect(addresses.length).toBeLessThanOrEqual(48)
  })
})
