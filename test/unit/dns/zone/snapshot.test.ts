import { describe, expect, it } from 'vitest'
import type { CompiledService } from '../../../../dns/contract.ts'
import { nameOf } from '../../../../dns/zone/names.ts'
import { aClusterSetIp, aHeadless, aSlice, type Objects } from '../../../support/dns-objects.ts'
import { fullName, summary } from '../../../support/dns-text.ts'
import { askerOf, compiledServices, emptyZone } from '../../../support/dns-zone.ts'

function services(objects: Objects): readonly CompiledService[] {
  return compiledServices(objects).map(compiled => compiled.service)
}

const web = services({ imports: [aClusterSetIp('prod/web', ['10.0.0.1'], ['http/TCP/80'])], slices: [] })
const db = (...endpoints: readonly string[]): readonly CompiledService[] =>
  services({
    imports: [aHeadless('prod/db')],
    slices: [aSlice('prod/db', 'east', ['pg/TCP/5432'], endpoints)],
  })

function openZone() {
  const zone = emptyZone()
  zone.loaded = true
  const asker = askerOf(zone)
  let serial = 0
  return {
    zone,
    put: (...put: readonly CompiledService[]) => zone.apply({ serial: ++serial, put, removed: [] }),
    remove: (...removed: readonly string[]) => zone.apply({ serial: ++serial, put: [], removed }),
    is: (...rows: readonly string[]): readonly string[] =>
      rows.map(row => {
        const [name = '', type = ''] = row.split(' ')
        return summary(asker.ask(fullName(name), type))
      }),
  }
}

describe('a zone', () => {
  it('loses a service whole, and with the last one its namespace', () => {
    const { put, remove, is, zone } = openZone()
    const empty = zone.names
    put(...web, ...db('db-0 10.1.0.1'))
    expect(is('prod A', 'db-0.east.db.prod A')).toEqual(['NODATA', 'NOERROR A 10.1.0.1'])
    remove('prod/db')
    expect(is('prod A', 'db.prod A', 'east.db.prod A', 'db-0.east.db.prod A')).toEqual([
      'NODATA',
      'NXDOMAIN',
      'NXDOMAIN',
      'NXDOMAIN',
    ])
    remove('prod/web')
    expect(is('web.prod A', '_tcp.web.prod A', 'prod A', 'svc.clusterset.local. A')).toEqual([
      'NXDOMAIN',
      'NXDOMAIN',
      'NXDOMAIN',
      'NODATA',
    ])
    expect(zone.names).toBe(empty)
  })

  it('keeps a namespace while an import without records is in it', () => {
    const { put, remove, is } = openZone()
    put(...services({ imports: [aHeadless('prod/none')], slices: [] }))
    expect(is('none.prod A', 'prod A')).toEqual(['NXDOMAIN', 'NODATA'])
    remove('prod/none')
    expect(is('prod A')).toEqual(['NXDOMAIN'])
  })

  it('changes one service and leaves the others alone', () => {
    const { put, is, zone } = openZone()
    put(...web, ...db('db-0 10.1.0.1', 'db-1 10.1.0.2'))
    put(...db('db-1 10.1.0.9', 'db-2 10.1.0.3'))
    expect(
      is('db.prod A', 'db-0.east.db.prod A', 'db-1.east.db.prod A', 'db-2.east.db.prod A', 'web.prod A'),
    ).toEqual([
      'NOERROR A 10.1.0.3, A 10.1.0.9',
      'NXDOMAIN',
      'NOERROR A 10.1.0.9',
      'NOERROR A 10.1.0.3',
      'NOERROR A 10.0.0.1',
    ])
    expect(zone.serial).toBe(2)
  })

  it('takes the same service again and again', () => {
    const { put, remove, is } = openZone()
    for (let i = 0; i < 3; i++) put(...web, ...db('db-0 10.1.0.1'))
    expect(is('web.prod A', 'east.db.prod A')).toEqual(['NOERROR A 10.0.0.1', 'NODATA'])
    remove('prod/web', 'prod/db', 'prod/db', 'prod/never')
    expect(is('web.prod A', 'prod A', 'svc.clusterset.local. A')).toEqual(['NXDOMAIN', 'NXDOMAIN', 'NODATA'])
  })

  it('follows an import from one type to the other and back', () => {
    const { put, is } = openZone()
    put(...db('db-0 10.1.0.1'))
    put(...services({ imports: [aClusterSetIp('prod/db', [], ['pg/TCP/5432'])], slices: [] }))
    expect(is('db.prod A', 'east.db.prod A', 'db-0.east.db.prod A')).toEqual([
      'NODATA',
      'NXDOMAIN',
      'NXDOMAIN',
    ])
    put(...db('db-0 10.1.0.1'))
    expect(is('db.prod A', 'east.db.prod A', 'db-0.east.db.prod A')).toEqual([
      'NOERROR A 10.1.0.1',
      'NODATA',
      'NOERROR A 10.1.0.1',
    ])
  })

  it('keeps count of what is below a name that has records of its own', () => {
    const { put, remove, is } = openZone()
    const named = db('db-0 10.1.0.1')
    const nameless = services({
      imports: [aHeadless('prod/db')],
      slices: [aSlice('prod/db', 'Bad_1', ['pg/TCP/5432'], ['db-0 10.1.0.1'])],
    })
    for (let i = 0; i < 3; i++) {
      put(...named)
      put(...nameless)
      expect(is('db.prod A', 'east.db.prod A', 'prod A')).toEqual([
        'NOERROR A 10.1.0.1',
        'NXDOMAIN',
        'NODATA',
      ])
      remove('prod/db')
      expect(is('prod A', 'svc.clusterset.local. A')).toEqual(['NXDOMAIN', 'NODATA'])
    }
  })

  it('finds names by their labels only', () => {
    const { zone, put } = openZone()
    put(...web)
    expect(zone.find(nameOf('web', 'prod', 'svc'))?.type).toBe(1)
    expect(zone.find(nameOf('web.prod', 'svc'))).toBeUndefined()
    expect(zone.find('')?.type).toBe(2)
  })
})
