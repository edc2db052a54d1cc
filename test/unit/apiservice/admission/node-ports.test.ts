import { expect, it } from 'vitest'
import { aService, refusalOf, type Spec, serviceWrites } from '../../../support/service-writes.ts'

const ports = (spec: Spec): readonly unknown[] =>
  (spec.ports as { nodePort?: number }[]).map(port => port.nodePort)
const http = { name: 'http', port: 80, protocol: 'TCP' }
const https = { name: 'https', port: 443, protocol: 'TCP' }

it.each(['NodePort', 'LoadBalancer'])('each port of a %s gets a node port', async type => {
  const { write } = await serviceWrites()
  expect(ports(await write(aService({ type, ports: [http, https] })))).toEqual([30_000, 30_001])
})

it('a load balancer without node ports gets none, and those that were asked for', async () => {
  const { write } = await serviceWrites()
  const spec = { type: 'LoadBalancer', allocateLoadBalancerNodePorts: false }
  expect(ports(await write(aService({ ...spec, ports: [http, { ...https, nodePort: 30_002 }] })))).toEqual([
    undefined,
    30_002,
  ])
})

it('one port number for two protocols has one node port', async () => {
  const { write } = await serviceWrites()
  const dns = [
    { name: 'dns', port: 53, protocol: 'UDP' },
    { name: 'dns-tcp', port: 53, protocol: 'TCP' },
  ]
  expect(ports(await write(aService({ type: 'NodePort', ports: dns })))).toEqual([30_000, 30_000])
})

it('a port that is asked for is given, also when it is named by a later port', async () => {
  const { write } = await serviceWrites()
  const sent = [http, { ...https, nodePort: 30_000 }]
  expect(ports(await write(aService({ type: 'NodePort', ports: sent })))).toEqual([30_001, 30_000])
})

it.each([
  [30_001, 'provided port is already allocated'],
  [80, 'provided port is not in the valid range. The range of valid ports is 30000-30003'],
])('the port %j cannot be had: %s', async (nodePort, why) => {
  const { write } = await serviceWrites()
  await write(aService({ type: 'NodePort', ports: [{ ...http, nodePort: 30_001 }] }, 'a'))
  const sent = aService({ type: 'NodePort', ports: [https, { ...http, nodePort }] })
  expect(await refusalOf(write(sent))).toBe(`422 spec.ports[1].nodePort: Invalid value: ${nodePort}: ${why}`)
})

it('when no port is left nothing is held', async () => {
  const { write } = await serviceWrites()
  const many = Array.from({ length: 5 }, (_, i) => ({ name: `p${i}`, port: i + 1 }))
  expect(await refusalOf(write(aService({ type: 'NodePort', ports: many })))).toBe(
    '500 Internal error occurred: failed to allocate a nodePort: range is full',
  )
  expect(ports(await write(aService({ type: 'NodePort', ports: many.slice(0, 4) })))).toHaveLength(4)
})

it('ports keep their node ports by name', async () => {
  const { write } = await serviceWrites()
  await write(aService({ type: 'NodePort', ports: [http, https] }))
  const changed = [
    { ...https, port: 8443 },
    { ...http, port: 8080 },
    { name: 'new', port: 1 },
  ]
  expect(ports(await write(aService({ type: 'NodePort', ports: changed })))).toEqual([30_001, 30_000, 30_002])
})

it('ports that go away are free again', async () => {
  const { write } = await serviceWrites()
  await write(aService({ type: 'NodePort', ports: [http, https] }))
  await write(aService({ type: 'NodePort', ports: [http] }))
  expect(
    ports(await write(aService({ type: 'NodePort', ports: [{ ...http, nodePort: 30_001 }] }, 'b'))),
  ).toEqual([30_001])
})

it('becoming a ClusterIP gives up the node ports and keeps the address', async () => {
  const { write } = await serviceWrites()
  const stored = await write(aService({ type: 'NodePort', ports: [http] }))
  const after = await write(aService({ ...stored, type: 'ClusterIP' }))
  expect(after).toMatchObject({ clusterIP: stored.clusterIP, ports: [http] })
  expect(ports(after)).toEqual([undefined])
  expect(
    ports(await write(aService({ type: 'NodePort', ports: [{ ...http, nodePort: 30_000 }] }, 'b'))),
  ).toEqual([30_000])
})

it('a load balancer that keeps source addresses has a port for health checks as long as it does', async () => {
  const { write } = await serviceWrites()
  const local = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports: [http] }
  const stored = await write(aService(local))
  expect([ports(stored), stored.healthCheckNodePort]).toEqual([[30_000], 30_001])
  expect((await write(aService(local))).healthCheckNodePort).toBe(30_001)
  const cluster = await write(aService({ ...stored, externalTrafficPolicy: 'Cluster' }))
  expect(cluster).not.toHaveProperty('healthCheckNodePort')
  expect((await write(aService({ ...local, healthCheckNodePort: 30_001 }, 'b'))).healthCheckNodePort).toBe(
    30_001,
  )
})
