// The answers of kube-apiserver with CustomResourceDefinitions, and ours through a kube-apiserver.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { allAgree, hasRecordings, replay, scenarios } from '../support/recorded-answers.ts'
import { type AggregatedMember, startAggregatedMember } from './aggregated-member.ts'
import { useLab } from './lab/use-lab.ts'

describe.skipIf(!hasRecordings)('recorded answers of kube-apiserver, through the aggregator', () => {
  const lab = useLab({ name: 'recorded-answers', count: 1, nodes: false })
  let member: AggregatedMember

  beforeAll(async () => {
    member = await startAggregatedMember(lab.cluster(0))
    // Its controllers would write into objects that answers are compared of.
    await lab.cluster(0).part('kube-controller-manager')?.stop()
  }, 300_000)
  afterAll(() => member.stop())

  it.for(scenarios)('%s', scenario => {
    const { identities, server } = lab.cluster(0)
    const administrator = { server, cert: identities.file('admin.crt'), key: identities.file('admin.key') }
    expect(replay(scenario, administrator)).toMatch(allAgree)
  })
})
