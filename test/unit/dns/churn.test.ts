import { describe, expect, it } from 'vitest'
import { never, sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { question, shown } from '../../support/dns-message.ts'
import { aClusterSetIp, aHeadless, aSlice } from '../../support/dns-objects.ts'
import { runDns, type ServicesCluster, servicesCluster } from '../../support/dns-responder.ts'
import { udpClient } from '../../support/dns-socket.ts'
import { fullName, summary } from '../../support/dns-text.ts'
import { eventually } from '../../support/eventually.ts'

const lookups = 10_000
const atOnce = 20
const changeEveryMs = 20
const pods = 100

/** Fifty changes a second: one endpoint of a slice comes or goes each time. The answer says how many there were. */
async function churn(services: ServicesCluster, stopped: () => boolean): Promise<number> {
  const slice = aSlice('prod/db', 'west', ['pg/TCP/5432'], [])
  let changes = 0
  for (; !stopped(); changes++) {
    const hosts = Array.from({ length: pods }, (_, i) => `w-${i} 10.2.0.${i + 1}`)
    hosts.splice(changes % pods, 1)
    await services.put({ slices: [{ ...slice, ...aSliceOf(hosts) }] })
    await sleep(systemClock, changeEveryMs, never)
  }
  return changes
}

function aSliceOf(hosts: readonly string[]) {
  const { endpoints, addressType } = aSlice('prod/db', 'west', [], hosts)
  return { endpoints, addressType }
}

describe('while endpoints change fifty times a second', () => {
  it.each([1, 2])(
    'ten thousand lookups of stable names are all right (%i workers)',
    { timeout: 120_000 },
    async workers => {
      const services = servicesCluster()
      const stable = aSlice('prod/db', 'east', ['pg/TCP/5432'], ['db-0 10.1.0.1'])
      await services.put({
        imports: [aClusterSetIp('prod/web', ['10.42.0.1'], []), aHeadless('prod/db')],
        slices: [stable],
      })
      const { dns, port } = await runDns({ cluster: services.cluster, workers })
      await eventually(() => expect(dns.ready()).toBe(true))
      let isStopped = false
      const changing = churn(services, () => isStopped)
      const wanted = new Map([
        ['web.prod', 'NOERROR A 10.42.0.1'],
        ['db-0.east.db.prod', 'NOERROR A 10.1.0.1'],
        ['east.db.prod', 'NODATA'],
      ])
      const names = [...wanted.keys()]
      const wrong: string[] = []
      const client = async (first: number): Promise<void> => {
        const socket = await udpClient(port)
        for (let i = first; i < lookups; i += atOnce) {
          const name = names[i % names.length] ?? ''
          const said = summary(shown(await socket.ask(question(fullName(name), 'A'))))
          if (said !== wanted.get(name)) wrong.push(`${name}: ${said}`)
        }
        await socket.close()
      }
      await Promise.all(Array.from({ length: atOnce }, (_, i) => client(i)))
      isStopped = true
      expect(await changing).toBeGreaterThan(20)
      expect(wrong).toEqual([])
      await dns.close()
    },
  )
})
