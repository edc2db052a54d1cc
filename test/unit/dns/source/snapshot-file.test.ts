import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { serviceFacts } from '../../../../dns/source/facts.ts'
import {
  readServices,
  storedServices,
  touchServices,
  writeServices,
} from '../../../../dns/source/snapshot-file.ts'
import { aClusterSetIp, aHeadless, aSlice } from '../../../support/dns-objects.ts'

const services = [
  serviceFacts(aClusterSetIp('prod/web', ['10.0.0.1'], ['http/TCP/80']), []),
  serviceFacts(aHeadless('prod/db'), [
    aSlice('prod/db', 'east', ['pg/TCP/5432'], ['db-0 10.1.0.1', 'ü 10.1.0.2']),
  ]),
]

let directory = ''
let file = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'isthmus-dns-'))
  file = join(directory, 'below', 'services')
})
afterEach(() => rm(directory, { recursive: true }))

describe('the file of services', () => {
  it('gives back what was written, and until when it was current', async () => {
    await writeServices(file, { serial: 7, cluster: 'east' }, services)
    await utimes(file, 1_000, 1_000)
    expect(await readServices(file)).toEqual({ serial: 7, cluster: 'east', services, currentAtMs: 1_000_000 })
    await touchServices(file, 2_000_000)
    expect((await readServices(file))?.currentAtMs).toBe(2_000_000)
  })

  it('is undefined when there is none', async () => {
    expect(await readServices(file)).toBeUndefined()
  })

  it('may hold none and many', async () => {
    await writeServices(file, { serial: 1, cluster: 'east' }, [])
    expect((await readServices(file))?.services).toEqual([])
    const many = Array.from({ length: 1000 }, (_, i) => serviceFacts(aHeadless(`prod/s${i}`), []))
    await writeServices(file, { serial: 2, cluster: 'east' }, many)
    expect((await readServices(file))?.services).toEqual(many)
    expect(await readdir(join(directory, 'below'))).toEqual(['services'])
  })

  it.each([
    ['cut short', (text: string) => text.slice(0, -20), 'is not whole'],
    [
      'without its last line',
      (text: string) => text.slice(0, text.lastIndexOf('\n', text.length - 2) + 1),
      'is not whole',
    ],
    ['changed', (text: string) => text.replace('10.0.0.1', '10.0.0.9'), 'is not whole'],
    [
      'of a later version',
      (text: string) => text.replace('"version":1', '"version":2'),
      'is not a file of services',
    ],
    ['of something else', () => '{}\n', 'is not a file of services'],
    ['empty', () => '', 'JSON'],
    ['no text', () => '\0\0\0\n', 'JSON'],
  ])('is refused when it is %s', async (_, change, message) => {
    await writeServices(file, { serial: 7, cluster: 'east' }, services)
    await writeFile(file, change(await readFile(file, 'utf8')))
    await expect(readServices(file)).rejects.toThrow(message)
  })

  it('stays as it was when writing fails halfway', async () => {
    await writeServices(file, { serial: 7, cluster: 'east' }, services)
    function* failing() {
      yield* services
      throw new Error('no more')
    }
    await expect(writeServices(file, { serial: 8, cluster: 'east' }, failing())).rejects.toThrow('no more')
    expect((await readServices(file))?.serial).toBe(7)
    expect(await readdir(join(directory, 'below'))).toEqual(['services'])
  })

  it('is a source that does not change', async () => {
    const source = storedServices(services)
    await source.synced
    expect([...source.keys()]).toEqual(['prod/web', 'prod/db'])
    expect(source.facts('prod/db')).toEqual(services[1])
    expect(source.facts('prod/nope')).toBeUndefined()
  })
})
