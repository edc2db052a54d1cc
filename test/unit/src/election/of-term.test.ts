import { describe, expect, it } from 'vitest'
import { ConfigMapKind } from '../../../../src/api/kinds/config-map.ts'
import { termOver } from '../../../../src/api/write-guard.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { clusterOfTerm } from '../../../../src/election/of-term.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { conflict } from '../../../../src/kernel/errors.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const configMaps = resource(ConfigMapKind)
const ref = { namespace: 'default', name: 'map' }
const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref } as const

function ofTerm() {
  const server = new MemoryCluster({ name: 'hub', clock: manualClock() })
  const ends: string[] = []
  const over = new AbortController()
  const term = {
    ends,
    pass: () => over.abort(new Error('the term is over')),
    check: () => over.signal.throwIfAborted(),
    end: (why: string) => ends.push(why),
  }
  return { server, term, cluster: clusterOfTerm(server, term) }
}

describe('the cluster of a term', () => {
  it('writes while the term lasts, and sends no write after it', async () => {
    const { cluster, server, term } = ofTerm()
    const made = await cluster.create(configMaps, map, never)
    term.pass()
    const over = 'the term is over'
    await expect(cluster.create(configMaps, map, never)).rejects.toThrow(over)
    await expect(cluster.replace(configMaps, made, {}, never)).rejects.toThrow(over)
    await expect(cluster.mergePatch(configMaps, ref, {}, { signal: never })).rejects.toThrow(over)
    await expect(cluster.delete(configMaps, ref, { signal: never })).rejects.toThrow(over)
    await expect(cluster.deleteCollection(configMaps, {}, never)).rejects.toThrow(over)
    expect(await server.get(configMaps, ref, never)).toEqual(made)
    expect(await cluster.get(configMaps, ref, never)).toEqual(made)
  })

  it('ends the term when the server refuses a write for it, and only then', async () => {
    const { server, term, cluster } = ofTerm()
    const of = { group: '', resource: 'configmaps' }
    server.create = () => Promise.reject(conflict(of, 'map'))
    await expect(cluster.create(configMaps, map, never)).rejects.toThrow('has been modified')
    expect(term.ends).toEqual([])
    server.create = () => Promise.reject(termOver(of, 'map'))
    await expect(cluster.create(configMaps, map, never)).rejects.toThrow(
      'what the write depends on has changed',
    )
    expect(term.ends).toEqual(['another term has begun'])
  })
})
