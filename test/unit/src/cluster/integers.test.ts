// Over real connections to a real API server: what agents read and write back keeps every digit.
import { afterEach, expect, it } from 'vitest'
import { ClusterClient } from '../../../../src/cluster/client.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { systemClock } from '../../../../src/kernel/clock.ts'
import { testServer } from '../../../support/api-server.ts'
import { WidgetKind } from '../../../support/kinds.ts'

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

const widgets = resource(WidgetKind)
const ref = { namespace: 'default', name: 'a' }
const greatest = 9223372036854775807n

async function aClient(): Promise<ClusterClient> {
  const server = await testServer({ kinds: [WidgetKind], admission: [] })
  open.push(server)
  const { certificate: cert, key } = server.admin
  const credentials = { ca: server.authority.certificate, cert, key }
  const client = new ClusterClient({
    name: 'east',
    servers: [server.url],
    credentials: async () => credentials,
    clock: systemClock,
  })
  open.push(client)
  return client
}

const aWidget = (extra: unknown) => ({
  apiVersion: 'test.example.com/v2',
  kind: 'Widget',
  metadata: ref,
  spec: { extra },
})

it('a long integer is created, read, listed, watched, patched and replaced with all its digits', async () => {
  const client = await aClient()
  const created = await client.create(widgets, aWidget({ a: greatest }), never)
  expect(created.spec?.extra).toEqual({ a: greatest })
  const { items, resourceVersion } = await client.list(widgets, {}, never)
  expect(items.map(item => item.spec?.extra)).toEqual([{ a: greatest }])
  await client.mergePatch(widgets, ref, { spec: { extra: { b: -greatest } } }, { signal: never })
  const read = await client.get(widgets, ref, never)
  expect(read.spec?.extra).toEqual({ a: greatest, b: -greatest })
  const replaced = await client.replace(
    widgets,
    { ...read, ...aWidget({ a: greatest - 1n }), metadata: read.metadata },
    {},
    never,
  )
  expect(replaced.spec?.extra).toEqual({ a: greatest - 1n })
  const stop = new AbortController()
  const seen: unknown[] = []
  for await (const event of client.watch(widgets, { resourceVersion }, stop.signal)) {
    if (event.type !== 'BOOKMARK') seen.push(event.object.spec?.extra)
    if (seen.length === 2) break
  }
  stop.abort()
  expect(seen).toEqual([{ a: greatest, b: -greatest }, { a: greatest - 1n }])
})
