import { expect, it } from 'vitest'
import { aService, refusalOf, type Spec, serviceWrites } from '../../../support/service-writes.ts'

/** Creates a Service, updates it, and answers both specs and the writes for more. */
async function update(first: Spec, change: (stored: Spec) => Spec) {
  const writes = await serviceWrites()
  const before = await writes.write(aService(first))
  const after = writes.write(aService(change(before)))
  return { before, after, ...writes }
}

it('the same YAML can be applied again', async () => {
  const yaml = { type: 'NodePort', ipFamilyPolicy: 'PreferDualStack', ports: [{ name: 'http', port: 80 }] }
  const { before, after } = await update(yaml, () => yaml)
  expect(await after).toEqual(before)
})

it('a dual-stack Service keeps its families when a PUT leaves the policy out', async () => {
  const { before, after } = await update({ ipFamilyPolicy: 'RequireDualStack' }, () => ({}))
  expect(await after).toMatchObject({ ...before, ipFamilyPolicy: 'RequireDualStack' })
})

it.each([
  [{ clusterIP: '10.96.0.9', clusterIPs: ['10.96.0.9'] }],
  [{ clusterIP: 'None', clusterIPs: ['None'] }],
])('the address cannot become %j', async change => {
  const { after } = await update({}, stored => ({ ...stored, ...change }))
  expect(await refusalOf(after)).toMatch(
    /^422 spec\.clusterIPs\[0\]: Invalid value: .*: may not change once set$/,
  )
})

it('an older client that changes clusterIP alone is refused in the same words', async () => {
  const { after } = await update({}, stored => ({ ...stored, clusterIP: '10.96.0.9' }))
  expect(await refusalOf(after)).toBe(
    '422 spec.clusterIPs[0]: Invalid value: ["10.96.0.9"]: may not change once set',
  )
})

it('a headless Service stays headless', async () => {
  const { after } = await update({ clusterIP: 'None' }, () => ({}))
  expect(await after).toMatchObject({ clusterIP: 'None', clusterIPs: ['None'] })
})

it('a second family is added when it is asked for', async () => {
  const { after } = await update({}, stored => ({ ...stored, ipFamilyPolicy: 'PreferDualStack' }))
  expect(await after).toMatchObject({ clusterIPs: ['10.96.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] })
})

it('a second family is given up when a single one is asked for', async () => {
  const first = { ipFamilyPolicy: 'RequireDualStack' }
  const { after, write } = await update(first, stored => ({ ...stored, ipFamilyPolicy: 'SingleStack' }))
  expect(await after).toMatchObject({ clusterIPs: ['10.96.0.1'], ipFamilies: ['IPv4'] })
  expect(await write(aService({ clusterIP: 'fd00::1' }, 'b'))).toMatchObject({ clusterIPs: ['fd00::1'] })
})

it('a second family cannot be given up without saying so', async () => {
  const { after } = await update({ ipFamilyPolicy: 'RequireDualStack' }, stored => ({
    ...stored,
    clusterIPs: ['10.96.0.1'],
    ipFamilies: ['IPv4'],
  }))
  expect(await refusalOf(after)).toBe(
    `422 [spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary cluster IP, spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary IP family]`,
  )
})

it('becoming an ExternalName gives up the address', async () => {
  const { after, write } = await update({}, stored => ({
    ...stored,
    type: 'ExternalName',
    externalName: 'x.example',
  }))
  for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
    expect(await after).not.toHaveProperty(field)
  }
  expect(await write(aService({ clusterIP: '10.96.0.1' }, 'b'))).toMatchObject({ clusterIP: '10.96.0.1' })
})

it('a former ExternalName gets an address', async () => {
  const { after } = await update({ type: 'ExternalName', externalName: 'x.example' }, () => ({}))
  expect(await after).toMatchObject({
    clusterIP: '10.96.0.1',
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
  })
})

it('a deleted Service can be made again with the address it had', async () => {
  const { admit, store, write } = await serviceWrites()
  await write(aService({ clusterIP: '10.96.0.9' }))
  const old = await store.get({ resource: 'services', namespace: 'shop', name: 'web' })
  await store.delete({ resource: 'services', namespace: 'shop', name: 'web' }, old?.revision ?? 0)
  expect((await admit(aService({ clusterIP: '10.96.0.9' }))).spec).toMatchObject({ clusterIP: '10.96.0.9' })
  expect(await refusalOf(write(aService({ clusterIP: '10.96.0.9' }, 'thief')))).toMatch(/already allocated/)
})
