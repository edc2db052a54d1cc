// Members that die, are removed, come back and are another cluster meanwhile, and a hub that has forgotten: processes of
// their own with their stores on disk. Each scenario ends with imports, slices and DNS as what is exported.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { byteOrder } from '../../src/merge/precedence.ts'
import { eventually } from '../support/eventually.ts'
import { memberClusters, namespaces } from '../support/memory-fleet.ts'
import { type Member, members, type SeparateProcesses, separateProcesses } from './deployment.ts'
import { Shop, signal } from './shop.ts'

type Exported = Partial<Record<Member, string>>

describe('membership', () => {
  let deployment: SeparateProcesses
  let shop: Shop
  beforeAll(async () => {
    deployment = await separateProcesses('1s')
    shop = new Shop(deployment)
    for (const member of members) await shop.open(member)
    await shop.export('east', 'db', { addresses: ['10.1.0.41'], isHeadless: true })
    await shop.export('west', 'db', { addresses: ['10.2.0.41'], isHeadless: true })
  }, 120_000)
  afterAll(() => deployment.stop())

  /** Clusters that contribute, and endpoints: a dead one contributes and has none. */
  async function expectSeen(
    exported: Exported,
    from: readonly Member[] = members,
    dead: readonly Member[] = [],
  ) {
    const addresses = Object.values(exported).sort()
    await shop.expectAnswers('db', addresses, from)
    for (const member of from) {
      await eventually(async () => expect(await shop.endpointsOf(member, 'db')).toEqual(addresses), 45_000)
      const clusters = [...Object.keys(exported), ...dead].sort(byteOrder).map(cluster => ({ cluster }))
      await eventually(async () => {
        expect((await shop.importOf(member, 'db')).status?.clusters).toEqual(clusters)
      }, 45_000)
    }
  }

  const both = { east: '10.1.0.41', west: '10.2.0.41' }

  it('a member that dies loses its endpoints and nothing else, and has them again', async () => {
    await expectSeen(both)
    await deployment.kill('west')
    await expectSeen({ east: both.east }, ['east'], ['west'])
    await deployment.start('west')
    await expectSeen(both)
  }, 240_000)

  it('B85: a dead member is removed without its help, and comes back under its id', async () => {
    await deployment.kill('west')
    await deployment.client('hub').delete(memberClusters, { name: 'west' }, { signal: signal() })
    await deployment.client('hub').delete(namespaces, { name: 'member-west' }, { signal: signal() })
    await eventually(async () => {
      const { items } = await deployment.client('hub').list(namespaces, {}, signal())
      expect(items.map(({ metadata }) => metadata.name)).not.toContain('member-west')
    }, 30_000)
    await expectSeen({ east: both.east }, ['east'])
    await deployment.joinAgain('west', 'itself')
    await expectSeen(both)
  }, 240_000)

  it('a hub that is put back to an older state learns again what was exported since', async () => {
    await deployment.kill('hub')
    const putBack = deployment.backUpHub()
    await deployment.start('hub')
    await shop.move('west', 'db', '10.2.0.99')
    await expectSeen({ ...both, west: '10.2.0.99' })
    await deployment.kill('hub')
    putBack()
    await deployment.start('hub')
    await expectSeen({ ...both, west: '10.2.0.99' })
  }, 240_000)
})
