import { expect } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import { must } from './frame/must.ts'
import { Scene } from './frame/scene.ts'
import { aSuite, isReadable } from './frame/suite.ts'

const suite = aSuite()

type Labels = Readonly<Record<string, string | undefined>>

/** A selector, and whether labels fit it. */
const selectors: readonly (readonly [string, (labels: Labels) => boolean])[] = [
  ['x=a', ({ x }) => x === 'a'],
  ['x==a', ({ x }) => x === 'a'],
  ['x = a', ({ x }) => x === 'a'],
  ['x!=a', ({ x }) => x !== 'a'],
  ['x in (a,c)', ({ x }) => x === 'a' || x === 'c'],
  ['x in ( a , b )', ({ x }) => x === 'a' || x === 'b'],
  ['x notin (a,c)', ({ x }) => x !== 'a' && x !== 'c'],
  ['x', ({ x }) => x !== undefined],
  ['!x', ({ x }) => x === undefined],
  ['n>4', ({ n }) => Number(n) > 4],
  ['n<10', ({ n }) => Number(n) < 10],
  ['n>4,n<10', ({ n }) => Number(n) > 4 && Number(n) < 10],
  ['x>1', () => false],
  ['x=', ({ x }) => x === ''],
  ['x in ()', ({ x }) => x === ''],
  ['x in (a,b),!n', ({ x, n }) => (x === 'a' || x === 'b') && n === undefined],
  ['x,x!=b', ({ x }) => x !== undefined && x !== 'b'],
  ['example.com/y=1', labels => labels['example.com/y'] === '1'],
  ['in in (in)', labels => labels.in === 'in'],
]

const unreadable: readonly (readonly [string, RegExp])[] = [
  ['x=a=b', /^found '=', expected: ',' or 'end of string'$/],
  ['x,', /^found '', expected: identifier after ','$/],
  [',x', /^found ',', expected: !, identifier, or 'end of string'$/],
  ['x in', /^unable to parse requirement: found '' expected: '\('$/],
  ['x in (a', /^unable to parse requirement: /],
  ['x y', /^unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt$/],
  ['-x', /^unable to parse requirement: key: Invalid value: "-x"/],
  ['x=a/b', /^unable to parse requirement: values\[0\]\[x\]: Invalid value: "a\/b"/],
  ['x>a', /^unable to parse requirement: values\[0\]: Invalid value: "a": for 'Gt', 'Lt' operators/],
]

suite.every(isReadable, subject => {
  must(84, 'selects by every operator on labels, and refuses what it cannot read', async () => {
    const scene = await Scene.of(subject)
    for (const labels of [
      { x: 'a' },
      { x: 'b', n: '5' },
      { x: '', n: '40' },
      { 'example.com/y': '1', in: 'in' },
      {},
    ]) {
      await scene.make(labels)
    }
    const all = await scene.items()
    expect(all).toHaveLength(5)
    for (const [selector, fits] of selectors) {
      const { body } = await scene.list(scene.select(selector))
      expect(body.items, selector).toEqual(all.filter(({ metadata }) => fits(metadata.labels ?? {})))
    }
    for (const [selector, message] of unreadable) {
      expect(await scene.list(`labelSelector=${encodeURIComponent(selector)}`), selector).toMatchObject({
        code: 400,
        body: { kind: 'Status', reason: 'BadRequest', message: expect.stringMatching(message) },
      })
    }
  })

  must(85, 'selects by name and namespace, and refuses fields that it does not know', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(3)
    const [one, two, three] = (await scene.items()) as readonly [KubeObject, KubeObject, KubeObject]
    const { name, namespace } = one.metadata
    const found = async (fields: string, path = scene.collection): Promise<readonly KubeObject[]> => {
      const query = `${scene.select()}&fieldSelector=${encodeURIComponent(fields)}`
      return (await subject.ask(`${path}?${query}`)).body.items
    }
    expect(await found(`metadata.name=${name}`)).toEqual([one])
    expect(await found(`metadata.name==${name}`)).toEqual([one])
    expect(await found(`metadata.name!=${name}`)).toEqual([two, three])
    expect(await found(`metadata.name=${name},metadata.name=${two.metadata.name}`)).toEqual([])
    expect(await found(`metadata.name!=${name},metadata.name!=${two.metadata.name}`)).toEqual([three])
    expect(await found('metadata.name=no\\,body')).toEqual([])
    if (namespace !== undefined) {
      expect(await found(`metadata.namespace=${namespace}`, subject.collection())).toEqual([one, two, three])
      expect(
        await found(`metadata.name=${name},metadata.namespace=${namespace}`, subject.collection()),
      ).toEqual([one])
      expect(await found('metadata.namespace=elsewhere')).toEqual([])
    }
    for (const field of Object.keys(subject.kind.selectableFields)) {
      expect((await scene.list(`fieldSelector=${field}=no-such-value`)).body.items).toEqual([])
    }
    for (const [fields, message] of [
      ['spec.nope=1', 'field label not supported: spec.nope'],
      ['metadata.uid=1', 'field label not supported: metadata.uid'],
      ['nonsense', "invalid selector: 'nonsense'; can't understand 'nonsense'"],
    ] as const) {
      expect(await scene.list(`fieldSelector=${fields}`)).toMatchObject({
        code: 400,
        body: { kind: 'Status', reason: 'BadRequest', message },
      })
    }
  })

  must(87, 'answers metadata alone, one and many, with versions and tokens', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(3)
    const [one] = (await scene.items()) as readonly [KubeObject]
    const accepts = (as: string, v = 'v1') => ({
      accept: `application/vnd.kubernetes.protobuf;as=${as};g=meta.k8s.io;v=${v},application/json;as=${as};g=meta.k8s.io;v=${v},application/json`,
    })
    for (const v of ['v1', 'v1beta1']) {
      const alone = await subject.ask(scene.item(one), accepts('PartialObjectMetadata', v))
      const names = { apiVersion: `meta.k8s.io/${v}`, kind: 'PartialObjectMetadata' }
      expect(alone.body).toEqual({ ...names, metadata: one.metadata })
    }
    const many = accepts('PartialObjectMetadataList')
    const whole = (await scene.list('limit=2')).body
    const { body } = await scene.list('limit=2', many)
    expect(body).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' })
    expect(body.metadata).toEqual(whole.metadata)
    expect(body.metadata.continue).toMatch(/./)
    expect(body.items.map((item: KubeObject) => item.metadata)).toEqual(
      whole.items.map((item: KubeObject) => item.metadata),
    )
    for (const item of body.items)
      expect(new Set(Object.keys(item))).toEqual(new Set(['apiVersion', 'kind', 'metadata']))
    const next = await scene.list(`limit=2&continue=${body.metadata.continue}`, many)
    expect(next).toMatchObject({ code: 200, body: { kind: 'PartialObjectMetadataList' } })
    const mismatch = { code: 406, body: { kind: 'Status', reason: 'NotAcceptable' } }
    expect(await scene.list('', accepts('PartialObjectMetadata'))).toMatchObject(mismatch)
    expect(await subject.ask(scene.item(one), many)).toMatchObject(mismatch)
  })
})
