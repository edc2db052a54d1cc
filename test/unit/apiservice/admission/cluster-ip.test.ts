import { expect, it } from 'vitest'
import { clusterIpPlugin } from '../../../../apiservice/admission/cluster-ip.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'
import { aService, refusalOf, serviceWrites } from '../../../support/service-writes.ts'

const v4 = { cidrs: ['10.96.0.0/28'] }
const v6 = { cidrs: ['fd00::/124'] }

it.each([
  [
    {},
    {
      clusterIP: '10.96.0.1',
      clusterIPs: ['10.96.0.1'],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
    },
  ],
  [
    { ipFamilyPolicy: 'PreferDualStack' },
    { clusterIP: '10.96.0.1', clusterIPs: ['10.96.0.1', 'fd00::1'], ipFamilies: ['IPv4', 'IPv6'] },
  ],
  [
    { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv6'] },
    { clusterIP: 'fd00::1', clusterIPs: ['fd00::1', '10.96.0.1'], ipFamilies: ['IPv6', 'IPv4'] },
  ],
  [
    { ipFamilies: ['IPv6'] },
    { clusterIP: 'fd00::1', clusterIPs: ['fd00::1'], ipFamilyPolicy: 'SingleStack' },
  ],
  [{ clusterIP: '10.96.0.9' }, { clusterIPs: ['10.96.0.9'], ipFamilies: ['IPv4'] }],
  [{ clusterIP: 'fd00::9' }, { clusterIPs: ['fd00::9'], ipFamilies: ['IPv6'] }],
  [
    { clusterIP: 'fd00::9', clusterIPs: ['fd00::9'], ipFamilyPolicy: 'PreferDualStack' },
    { clusterIP: 'fd00::9', clusterIPs: ['fd00::9', '10.96.0.1'], ipFamilies: ['IPv6', 'IPv4'] },
  ],
  [
    { clusterIP: 'None' },
    { clusterIP: 'None', clusterIPs: ['None'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
  ],
  [
    { clusterIP: 'None', selector: {} },
    { clusterIPs: ['None'], ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack' },
  ],
])('a Service with %j gets %j', async (sent, spec) => {
  const { write } = await serviceWrites()
  expect(await write(aService(sent))).toMatchObject(spec)
})

it('a headless Service without selector may have a family that the cluster does not have', async () => {
  const { write } = await serviceWrites(v6)
  expect(await write(aService({ clusterIP: 'None', selector: undefined }))).toMatchObject({
    ipFamilies: ['IPv6', 'IPv4'],
  })
})

it('a Service that only prefers two families gets the one there is', async () => {
  const { write } = await serviceWrites(v4)
  expect(await write(aService({ ipFamilyPolicy: 'PreferDualStack' }))).toMatchObject({
    clusterIPs: ['10.96.0.1'],
    ipFamilies: ['IPv4'],
  })
})

it('an ExternalName Service gets nothing', async () => {
  const { admit } = await serviceWrites()
  const { spec } = await admit(aService({ type: 'ExternalName', externalName: 'example.com', ports: [] }))
  for (const field of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'])
    expect(spec).not.toHaveProperty(field)
})

it('other kinds, deletions and the status are not looked at', () => {
  const plugin = clusterIpPlugin({
    cidrs: [],
    nodePorts: { first: 30_000, last: 30_001 },
    clock: manualClock(),
    log: silentLogger,
  })
  const handles = (more: object) =>
    plugin.handles({
      operation: 'CREATE',
      subresource: '',
      // Only the names are read.
      served: { kind: { group: '', plural: 'services' } },
      ...more,
    } as Parameters<typeof plugin.handles>[0])
  expect(handles({})).toBe(true)
  expect(handles({ operation: 'DELETE' })).toBe(false)
  expect(handles({ subresource: 'status' })).toBe(false)
  expect(handles({ served: { kind: { group: 'x', plural: 'services' } } })).toBe(false)
})

it.each<[object, object, string]>([
  [
    {},
    { clusterIP: '10.97.0.1' },
    '422 spec.clusterIPs: Invalid value: ["10.97.0.1"]: failed to allocate IP 10.97.0.1: the provided IP (10.97.0.1) is not in the valid range. The range of valid IPs is 10.96.0.0/28',
  ],
  [
    {},
    { clusterIP: '10.96.0.0' },
    '422 spec.clusterIPs: Invalid value: ["10.96.0.0"]: failed to allocate IP 10.96.0.0: the provided IP (10.96.0.0) is not in the valid range. The range of valid IPs is 10.96.0.0/28',
  ],
  [
    {},
    { clusterIP: 'web' },
    '422 spec.clusterIPs[0]: Invalid value: "web": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
  ],
  [
    {},
    { clusterIP: '10.96.0.3', clusterIPs: ['10.96.0.4'] },
    '422 spec.clusterIPs: Invalid value: ["10.96.0.4"]: first value must match `clusterIP`',
  ],
  [
    {},
    { clusterIPs: ['10.96.0.4'] },
    '422 spec.clusterIPs: Invalid value: ["10.96.0.4"]: first value must match `clusterIP`',
  ],
  [
    {},
    { clusterIP: 'None', clusterIPs: ['None', '10.96.0.3'] },
    `422 spec.clusterIPs: Invalid value: ["None","10.96.0.3"]: 'None' must be the first and only value`,
  ],
  [
    {},
    { clusterIP: '10.96.0.3', clusterIPs: ['10.96.0.3', '10.96.0.4'], ipFamilyPolicy: 'RequireDualStack' },
    '422 spec.clusterIPs: Invalid value: ["10.96.0.3","10.96.0.4"]: may specify no more than one IP for each IP family, i.e. IPv4 and IPv6',
  ],
  [
    {},
    { clusterIP: '10.96.0.3', clusterIPs: ['10.96.0.3', 'fd00::3'] },
    `422 spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified`,
  ],
  [
    {},
    { ipFamilies: ['IPv4', 'IPv6'] },
    `422 spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified`,
  ],
  [
    {},
    { ipFamilies: ['IPv4', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' },
    '422 spec.ipFamilies[1]: Duplicate value: "IPv4"',
  ],
  [
    {},
    { clusterIP: 'fd00::3', ipFamilies: ['IPv4'] },
    '422 spec.clusterIPs[0]: Invalid value: "fd00::3": expected an IPv4 value as indicated by `ipFamilies[0]`',
  ],
  [
    v4,
    { ipFamilies: ['IPv6'] },
    '422 spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
  ],
  [
    v4,
    { clusterIP: 'fd00::3' },
    '422 spec.clusterIPs[0]: Invalid value: ["fd00::3"]: IPv6 is not configured on this cluster',
  ],
  [
    v4,
    { ipFamilyPolicy: 'RequireDualStack' },
    '422 spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
  ],
])('on a server with %j a Service with %j is refused', async (options, sent, message) => {
  const { write } = await serviceWrites(options)
  expect(await refusalOf(write(aService({ ...sent })))).toBe(message)
})

it('an address is given once, however it is written', async () => {
  const { write } = await serviceWrites()
  await write(aService({ clusterIP: 'fd00::9' }, 'a'))
  expect(await refusalOf(write(aService({ clusterIP: 'fd00:0:0::0009' })))).toBe(
    '422 spec.clusterIPs: Invalid value: ["fd00:0:0::0009"]: failed to allocate IP fd00:0:0::0009: provided IP is already allocated',
  )
})

it('all addresses can be given, then none is left', async () => {
  const { write, remove } = await serviceWrites(v4)
  const given = new Set<unknown>()
  for (let i = 0; i < 14; i++) given.add((await write(aService({}, `s${i}`))).clusterIP)
  expect(given.size).toBe(14)
  expect(await refusalOf(write(aService()))).toBe(
    '500 Internal error occurred: failed to allocate a serviceIP: range is full',
  )
  await remove(aService({}, 's7'))
  expect(await write(aService())).toMatchObject({ clusterIP: '10.96.0.8' })
})

it('writes at the same time get different addresses', async () => {
  const { admit } = await serviceWrites(v4)
  const names = Array.from({ length: 14 }, (_, i) => `s${i}`)
  const made = await Promise.all(names.map(name => admit(aService({}, name))))
  expect(new Set(made.map(service => (service.spec as { clusterIP: string }).clusterIP)).size).toBe(14)
})

it('a write that failed holds its address for a minute', async () => {
  const { admit, clock, write } = await serviceWrites()
  await admit(aService({ clusterIP: '10.96.0.9' }, 'a'))
  await clock.advance(59_999)
  expect(await refusalOf(write(aService({ clusterIP: '10.96.0.9' })))).toMatch(/already allocated/)
  await clock.advance(1)
  expect(await write(aService({ clusterIP: '10.96.0.9' }))).toMatchObject({ clusterIP: '10.96.0.9' })
})

it('the same write may be tried again at once', async () => {
  const { admit, write } = await serviceWrites()
  await admit(aService({ clusterIP: '10.96.0.9' }))
  expect(await write(aService({ clusterIP: '10.96.0.9' }))).toMatchObject({ clusterIP: '10.96.0.9' })
})

it('what was stored stays held after its reservation has ended', async () => {
  const { clock, write } = await serviceWrites()
  await write(aService({ clusterIP: '10.96.0.9' }, 'a'))
  await clock.advance(120_000)
  expect(await refusalOf(write(aService({ clusterIP: '10.96.0.9' })))).toMatch(/already allocated/)
})

it('a generated name holds its own address', async () => {
  const { admit } = await serviceWrites()
  const unnamed = aService({}, '')
  const one = await admit(unnamed)
  const two = await admit(unnamed)
  expect((one.spec as { clusterIP: string }).clusterIP).not.toBe(
    (two.spec as { clusterIP: string }).clusterIP,
  )
})

it('a dry run answers an address and holds none', async () => {
  const { admit, write } = await serviceWrites({ cidrs: ['10.96.0.0/30'] })
  const dry = (name: string) => admit(aService({ type: 'NodePort' }, name), { dryRun: true })
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    expect((await dry(name)).spec).toMatchObject({ clusterIP: expect.stringMatching(/^10\.96\.0\.[12]$/) })
  }
  expect(await write(aService())).toMatchObject({ clusterIP: expect.any(String) })
})

it('a write that cannot have its second address gives the first one back', async () => {
  const { write } = await serviceWrites({ cidrs: ['10.96.0.0/30', 'fd00::/126'] })
  await write(aService({ clusterIP: 'fd00::1' }, 'a'))
  const sent = aService({
    clusterIP: '10.96.0.1',
    clusterIPs: ['10.96.0.1', 'fd00::1'],
    ipFamilyPolicy: 'RequireDualStack',
  })
  expect(await refusalOf(write(sent))).toMatch(/fd00::1: provided IP is already allocated$/)
  expect(await write(aService({ clusterIP: '10.96.0.1' }, 'b'))).toMatchObject({ clusterIP: '10.96.0.1' })
})

it('what Services hold is known again after a restart', async () => {
  const { restart, write } = await serviceWrites()
  await write(aService({ type: 'NodePort', clusterIP: '10.96.0.9' }, 'a'))
  await restart()
  expect(await refusalOf(write(aService({ clusterIP: '10.96.0.9' })))).toMatch(/already allocated/)
  expect(
    await refusalOf(write(aService({ type: 'NodePort', ports: [{ port: 80, nodePort: 30_000 }] }))),
  ).toMatch(/provided port is already allocated/)
})

it('addresses of a block that is no longer configured stay with their Services', async () => {
  const { restart, write } = await serviceWrites()
  await write(aService({ clusterIP: '10.96.0.9' }))
  await restart({ cidrs: ['10.97.0.0/28'] })
  expect(await write(aService({ clusterIP: '10.96.0.9', sessionAffinity: 'ClientIP' }))).toMatchObject({
    clusterIPs: ['10.96.0.9'],
  })
  expect(await write(aService({}, 'b'))).toMatchObject({ clusterIP: '10.97.0.1' })
})

it('two stored Services with one address are told in the log, and the first keeps it', async () => {
  const { log, remove, restart, store, write } = await serviceWrites()
  await write(aService({ clusterIP: '10.96.0.9' }, 'a'))
  const copy = await store.get({ resource: 'services', namespace: 'shop', name: 'a' })
  await store.create({ resource: 'services', namespace: 'shop', name: 'b' }, copy?.body ?? Buffer.alloc(0))
  await restart()
  expect(log.lines.at(-1)).toMatchObject({ level: 'error', fields: { token: '10.96.0.9', owner: 'shop/b' } })
  await remove(aService({}, 'b'))
  await settled()
  expect(await refusalOf(write(aService({ clusterIP: '10.96.0.9' })))).toMatch(/already allocated/)
})

it.each([
  [['10.96.0.0/28', '10.97.0.0/28'], '10.97.0.0/28 is the second block of IPv4'],
  [['10.96.0.0'], '"10.96.0.0" is not a CIDR'],
])('the blocks %j are refused', (cidrs, message) => {
  const options = { cidrs, nodePorts: { first: 1, last: 2 }, clock: manualClock(), log: silentLogger }
  expect(() => clusterIpPlugin(options)).toThrow(message)
})
