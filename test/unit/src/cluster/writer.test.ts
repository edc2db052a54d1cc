import { describe, expect, it } from 'vitest'
import { NamespaceKind } from '../../../../src/api/kinds/namespace.ts'
import { ServiceExportKind } from '../../../../src/api/kinds/service-export.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { startInformer } from '../../../../src/cluster/informer.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { isNamespaceTerminating, Writer } from '../../../../src/cluster/writer.ts'
import { never } from '../../../../src/kernel/abort.ts'
import {
  forbidden,
  noSuchPath,
  notFound,
  type StatusError,
  unavailable,
} from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { type Labels, type Metrics, noMetrics } from '../../../../src/kernel/metrics.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { serviceExport } from '../../../support/shop.ts'

const exports = resource(ServiceExportKind)

function setUp(failWith?: () => StatusError | undefined) {
  const counted: Labels[] = []
  const metrics: Metrics = {
    ...noMetrics,
    counter: () => ({
      add: (labels = {}) => {
        counted.push(labels)
      },
    }),
  }
  const cluster = new MemoryCluster({
    name: 'east',
    clock: manualClock(),
    intercept: () => {
      const failure = failWith?.()
      if (failure !== undefined) throw failure
    },
  })
  return { cluster, counted, writer: new Writer(cluster, metrics) }
}

describe('Writer', () => {
  it('answers what was written', async () => {
    const { counted, writer } = setUp()
    const created = await writer.create(exports, serviceExport(), never)
    expect(created?.metadata.resourceVersion).toBeDefined()
    expect(counted).toEqual([
      { cluster: 'east', resource: 'serviceexports', subresource: '', verb: 'create', result: 'done' },
    ])
  })

  it('answers nothing, and counts, when something else is there than was thought', async () => {
    const { counted, writer } = setUp()
    const created = await writer.create(exports, serviceExport(), never)
    if (created === undefined) throw new Error('nothing was created')
    expect(await writer.create(exports, serviceExport(), never)).toBeUndefined()
    await writer.replace(exports, { ...created, spec: { exportedLabels: { a: '1' } } }, {}, never)
    expect(await writer.replace(exports, { ...created, spec: {} }, {}, never)).toBeUndefined()
    const other = { ...created, metadata: { ...created.metadata, uid: 'of another life' } }
    await writer.delete(exports, other, never)
    await writer.delete(exports, created, never)
    await writer.delete(exports, created, never)
    expect(counted.map(labels => labels.result)).toEqual([
      'done',
      'stale',
      'done',
      'stale',
      'stale',
      'done',
      'stale',
    ])
  })

  it.each([
    ['the server is away', unavailable('away')],
    ['there is no such resource', noSuchPath()],
    ['the namespace is missing', notFound({ group: '', resource: 'namespaces' }, 'shop')],
  ])('throws on create when %s', async (_, failure) => {
    const { counted, writer } = setUp(() => failure)
    await expect(writer.create(exports, serviceExport(), never)).rejects.toBe(failure)
    expect(counted.map(labels => labels.result)).toEqual(['failed'])
  })

  it('throws on delete when there is no such resource', async () => {
    const { writer } = setUp(() => noSuchPath())
    await expect(writer.delete(exports, serviceExport(), never)).rejects.toMatchObject({ code: 404 })
  })
})

describe('an informer that a Writer informs', () => {
  it('has what was written when the write ends', async () => {
    const { cluster, writer } = setUp()
    const clock = manualClock()
    const quiet = { name: 'east', list: cluster.list.bind(cluster), watch: () => nothing() }
    const informer = startInformer(quiet, exports, { clock, log: memoryLogger() }, never)
    writer.informs(exports, informer)
    await informer.synced
    const created = await writer.create(exports, serviceExport(), never)
    if (created === undefined) throw new Error('nothing was created')
    expect(informer.get(created.metadata)).toEqual(created)
    const labelled = { ...created, spec: { exportedLabels: { a: '1' } } }
    const replaced = await writer.replace(exports, labelled, {}, never)
    expect(informer.get(created.metadata)).toEqual(replaced)
  })
})

/** A watch on which nothing comes. */
async function* nothing(): AsyncGenerator<never> {
  await new Promise(() => undefined)
}

describe('isNamespaceTerminating', () => {
  it('goes by the cause', () => {
    const ref = { group: NamespaceKind.group, resource: 'serviceimports' }
    const why = 'unable to create new content in namespace shop because it is being terminated'
    const cause = {
      reason: 'NamespaceTerminating',
      message: 'namespace shop is being terminated',
      field: 'metadata.namespace',
    }
    expect(isNamespaceTerminating(forbidden(ref, 'web', why, [cause]))).toBe(true)
    expect(isNamespaceTerminating(forbidden(ref, 'web', why))).toBe(false)
    expect(isNamespaceTerminating(unavailable('away'))).toBe(false)
  })
})
