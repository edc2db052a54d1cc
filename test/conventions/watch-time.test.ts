import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:tls'
import { expect } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import { manualClock } from '../support/manual-clock.ts'
import { answeredAfter } from './frame/later.ts'
import { must } from './frame/must.ts'
import { Scene, summaryOf } from './frame/scene.ts'
import type { Frame, Watch } from './frame/subject.ts'
import { aSuite, isReadable, isStored } from './frame/suite.ts'

const clock = manualClock()
const suite = aSuite({ clock }, 'HTTP/2')

const minute = 60_000

/** A watch whose timers are set. */
function open(scene: Scene, query: string): Promise<Watch> {
  return answeredAfter(clock, 0, () => scene.watch(query))
}

suite.every(isReadable, subject => {
  must(
    97,
    'sends bookmarks about once a minute, and shortly before the end, to who allows them',
    async () => {
      const scene = await Scene.of(subject)
      await scene.make()
      const start = await scene.revision()
      const watch = await open(scene, `resourceVersion=${start}&allowWatchBookmarks=true&timeoutSeconds=150`)
      const bookmark = async () => {
        const frame = (await watch.next()) as Frame
        expect(frame.object.metadata).not.toHaveProperty('annotations')
        expect(frame.object).toMatchObject({ kind: subject.kind.kind })
        return `${frame.type} ${frame.object.metadata.resourceVersion}`
      }
      await clock.advance(1.2 * minute)
      expect(await bookmark()).toBe(`BOOKMARK ${start}`)
      const moved = await movedOn()
      await clock.advance(minute)
      expect(await bookmark()).toBe(`BOOKMARK ${moved}`)
      await clock.advance(0.28 * minute)
      expect(await bookmark()).toBe(`BOOKMARK ${moved}`)
      await clock.advance(0.02 * minute)
      expect(await watch.next()).toBeUndefined()
    },
  )

  must(97, 'sends no bookmark to who does not allow them', async () => {
    const scene = await Scene.of(subject)
    for (const query of ['resourceVersion=0', 'resourceVersion=0&allowWatchBookmarks=false']) {
      const watch = await open(scene, `${query}&timeoutSeconds=200`)
      await clock.advance(3 * minute)
      const made = await scene.make()
      expect(await watch.next()).toEqual({ type: 'ADDED', object: made })
      await clock.advance(minute)
      expect(await watch.next()).toBeUndefined()
      await scene.remove(made)
    }
  })

  must(101, 'ends a watch at its timeout, and one without after 30 to 60 minutes', async () => {
    const scene = await Scene.of(subject)
    const short = await open(scene, 'resourceVersion=0&timeoutSeconds=5')
    const unlimited = await open(scene, 'resourceVersion=0')
    await clock.advance(4_900)
    const made = await scene.make()
    expect(await short.next()).toEqual({ type: 'ADDED', object: made })
    await clock.advance(100)
    expect(await short.next()).toBeUndefined()
    await clock.advance(29.9 * minute)
    const late = await scene.make()
    expect(await unlimited.next()).toEqual({ type: 'ADDED', object: made })
    expect(await unlimited.next()).toEqual({ type: 'ADDED', object: late })
    await clock.advance(30.1 * minute)
    expect(await unlimited.next()).toBeUndefined()
  })

  must(98, 'tells a watch so that wants what is there at a version of the future', async () => {
    const scene = await Scene.of(subject)
    const soon = Number(await scene.revision()) + 1_000
    const query = `sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=${soon}`
    const watch = await open(scene, query)
    const first = watch.next()
    await clock.advance(3_000)
    expect(await first).toMatchObject({
      type: 'ERROR',
      object: { code: 504, reason: 'Timeout', details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } },
    })
    expect(await watch.next()).toBeUndefined()
  })
})

suite.every(isStored, subject => {
  must(96, 'replays deletions of the last five minutes', async () => {
    const scene = await Scene.of(subject)
    const made = await scene.make()
    const start = await scene.revision()
    await scene.remove(made)
    await clock.advance(4.9 * minute)
    const events = await scene.eventsOf(await scene.watch(`resourceVersion=${start}`))
    expect(events.map(summaryOf)).toEqual(scene.removal.map(type => `${type} ${made.metadata.name}`))
  })
})

must(101, 'ends the body of a watch as HTTP/1.1 and HTTP/2 end it', async () => {
  const { server } = suite
  const path = '/api/v1/configmaps?watch=1&resourceVersion=0&timeoutSeconds=7'
  const tls = { ca: server.authority.certificate, cert: server.admin.certificate, key: server.admin.key }
  const socket = connect({ ...tls, host: '127.0.0.1', port: server.port, ALPNProtocols: ['http/1.1'] })
  await once(socket, 'secureConnect')
  const text = await answeredAfter(clock, 7_000, async () => {
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`)
    let received = ''
    for await (const chunk of socket) {
      received += chunk
      if (received.endsWith('\r\n0\r\n\r\n')) break
    }
    return received
  })
  expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n/)
  expect(text).toMatch(/^transfer-encoding: chunked\r$/im)
  expect(text).not.toMatch(/connection: close/i)
  const session = connectHttp2(server.url, tls)
  const stream = session.request({ ':path': path })
  stream.resume()
  await answeredAfter(clock, 7_000, () => once(stream, 'end'))
  expect(stream.rstCode).toBe(0)
  session.destroy()
})

/** Something else is written; answers the version, once watchers have been told how far the store has come. */
async function movedOn(): Promise<string> {
  const body = { metadata: { generateName: 'moved-' } }
  const made = await suite.ask('/api/v1/namespaces', { method: 'POST', body })
  if (made.code !== 201) throw new Error(made.text)
  return (made.body as KubeObject).metadata.resourceVersion ?? ''
}
