// The fleet as people run it: one process, its surface, and what it says when it cannot start.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { parseYaml } from '../../src/codec/yaml.ts'
import { eventually } from '../support/eventually.ts'
import { type Fleet, freePorts, startFleet, temporaryFolder } from '../support/fleet.ts'
import { contextClient } from '../support/fleet-client.ts'
import { runToEnd } from '../support/role-process.ts'
import { type Deployment, members } from './deployment.ts'
import { Shop } from './shop.ts'

type OpenFleet = Pick<Deployment, 'client' | 'dnsPort'> & { readonly fleet: Fleet; close(): Promise<void> }

async function opened(fleet: Fleet): Promise<OpenFleet> {
  const contexts = ['hub', ...members] as const
  const made = contexts.map(
    async context => [context, await contextClient(fleet.kubeconfig, context)] as const,
  )
  const clients = new Map(await Promise.all(made))
  return {
    fleet,
    client: context => {
      const found = clients.get(context)
      if (found === undefined) throw new Error(`no context ${context}`)
      return found
    },
    dnsPort: member => fleet.port + 10 + members.indexOf(member),
    close: async () => {
      for (const client of clients.values()) client.close()
      await fleet.stop()
    },
  }
}

describe('the fleet', () => {
  const folder = temporaryFolder()
  const home = join(folder.path, 'home')
  let open: OpenFleet
  beforeAll(async () => {
    open = await opened(await startFleet({ home }))
  })
  afterAll(async () => {
    await open.close()
    folder.dispose()
  })

  it('writes a kubeconfig with the members first, and the certificate of its administrator', () => {
    const { value } = parseYaml(readFileSync(open.fleet.kubeconfig, 'utf8'))
    expect(value).toMatchObject({
      'current-context': 'east',
      contexts: [{ name: 'east' }, { name: 'west' }, { name: 'hub' }],
    })
    expect(readFileSync(join(home, 'admin.crt'), 'utf8')).toMatch(/^-----BEGIN CERTIFICATE-----/)
    for (const file of ['kubeconfig', 'admin.key', 'hub/pki/ca.key', 'members/east/hub/hub.json']) {
      expect(statSync(join(home, file)).mode & 0o077, file).toBe(0)
    }
  })

  it('says that its home is in use', async () => {
    const other = await freePorts()
    const { code, output } = await runToEnd(['fleet', '--home', home, '--port', String(other)])
    expect(code).toBe(1)
    expect(output).toMatch(/^isthmus: .*home\/hub\/store is in use by another process\.?$/m)
  })

  it('does not disturb another fleet beside it', async () => {
    const beside = temporaryFolder()
    const second = await opened(await startFleet({ home: join(beside.path, 'home') }))
    onTestFinished(async () => {
      await second.close()
      beside.dispose()
    })
    const [here, there] = [new Shop(open), new Shop(second)]
    for (const shop of [here, there]) for (const member of members) await shop.open(member)
    await there.export('east', 'db', { addresses: ['10.3.0.1'], isHeadless: true })
    await there.expectAnswers('db', ['10.3.0.1'])
    await here.export('west', 'db', { addresses: ['10.2.0.1'], isHeadless: true })
    await here.expectAnswers('db', ['10.2.0.1'])
    await there.expectAnswers('db', ['10.3.0.1'])
    expect(await second.fleet.stop()).toBe(0)
    await here.expectAnswers('db', ['10.2.0.1'])
  }, 120_000)

  it('gives out more ClusterSetIPs when its config file says so, without a restart', async () => {
    const small = temporaryFolder()
    const config = join(small.path, 'config.yaml')
    writeFileSync(config, 'clusterset-cidr: 10.112.0.0/30\n')
    const home = join(small.path, 'home')
    const third = await opened(await startFleet({ home, args: ['--config', config] }))
    onTestFinished(async () => {
      await third.close()
      small.dispose()
    })
    const shop = new Shop(third)
    for (const member of members) await shop.open(member)
    for (const what of ['one', 'two', 'three']) await shop.export('east', what, { addresses: ['10.1.0.1'] })
    const ipsOf = async () => {
      const found = await Promise.all(['one', 'two', 'three'].map(what => shop.importOf('west', what)))
      return found.flatMap(({ spec }) => spec?.ips ?? []).length
    }
    await eventually(async () => expect(await ipsOf()).toBe(2), 30_000)
    writeFileSync(config, 'clusterset-cidr: 10.112.0.0/30,10.113.0.0/24\n')
    await eventually(async () => expect(await ipsOf()).toBe(3), 60_000)
  }, 180_000)

  it('ends in good order on SIGTERM', async () => {
    expect(await open.fleet.stop()).toBe(0)
    expect(open.fleet.output.join('\n')).not.toMatch(/"level":"error"/)
  })
})

describe('the fleet does not start', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let port: number
  beforeEach(async () => {
    folder = temporaryFolder()
    port = await freePorts()
  })
  afterEach(() => folder.dispose())

  async function refused(...args: readonly string[]): Promise<string> {
    const home = join(folder.path, 'home')
    const { code, output } = await runToEnd(['fleet', '--home', home, '--port', String(port), ...args])
    expect(code).not.toBe(0)
    expect(output).not.toMatch(/^ {4}at /m)
    expect(output.trim().split('\n')).toHaveLength(1)
    return output
  }

  it('when a port of its hub, a member or a DNS is taken, and has then done nothing', async () => {
    const tcp = createServer().listen(port + 2, '127.0.0.1')
    const udp = createSocket('udp4').bind(port + 10, '127.0.0.1')
    onTestFinished(() => {
      tcp.close()
      udp.close()
    })
    await Promise.all([once(tcp, 'listening'), once(udp, 'listening')])
    expect(await refused()).toBe(
      `isthmus: TCP port ${port + 2} on 127.0.0.1 for the member west is in use; UDP port ${port + 10} on 127.0.0.1 for the DNS of east is in use; choose another with --port`,
    )
    expect(readdirSync(folder.path)).toEqual([])
  })

  it.each([
    [['--port', 'x'], 'isthmus: --port must be a whole number from 1 to 65535, not "x"'],
    [['--port', '65535'], /^isthmus: port 65536 for the member east is above 65535; /],
    [['--members', 'a,b,c,d,e,f,g,h,i,j'], /^isthmus: --members must name at most 9, not/],
    [['--members', 'East'], /^isthmus: --members must be one or two DNS labels .*, not "East"$/],
    [['--members', 'a,a'], 'isthmus: --members must not name "a" twice, not "a,a"'],
    [['--controllers', 'some'], 'isthmus: --controllers must be one of all, none, not "some"'],
    [['--clusterset-cidr', '10.0.0.1/8'], /^isthmus: --clusterset-cidr must be blocks of addresses/],
    [['--home', '/dev/null/x'], /^isthmus: the home directory \/dev\/null\/x cannot be written: ENOTDIR/],
    [['--config', '/nowhere'], /^isthmus: the config file \/nowhere cannot be read: ENOENT/],
  ])('with %j', async (args, sentence) => {
    const output = await refused(...args)
    if (typeof sentence === 'string') expect(output).toBe(sentence)
    else expect(output).toMatch(sentence)
  })

  it('on a store that is damaged', async () => {
    const home = join(folder.path, 'home')
    const fleet = await startFleet({ home, port, args: ['--controllers', 'none'] })
    await fleet.stop()
    writeFileSync(join(home, 'hub/store/CURRENT'), 'MANIFEST-999999\n')
    expect(await refused('--controllers', 'none')).toMatch(/^isthmus: .*hub\/store .*/)
  })
})

describe('the fleet that is told to stop while it starts', () => {
  it.each([
    ['"server":"hub",.*"listening"'],
    ['"member joined"'],
    ['"server":"east",.*"listening"'],
    ['"answering"'],
  ])(
    'at %s ends in good order',
    async line => {
      const folder = temporaryFolder()
      onTestFinished(() => folder.dispose())
      const args = ['fleet', '--home', join(folder.path, 'home'), '--port', String(await freePorts())]
      const { code, output } = await runToEnd(args, new RegExp(line))
      expect(code, output).toBe(0)
      expect(output).not.toMatch(/"level":"error"/)
    },
    120_000,
  )
})

describe('the fleet without controllers', () => {
  it('runs API servers and nothing else', async () => {
    const folder = temporaryFolder()
    const home = join(folder.path, 'home')
    const fleet = await startFleet({ home, args: ['--controllers', 'none'] })
    const running = await opened(fleet)
    onTestFinished(async () => {
      await running.close()
      folder.dispose()
    })
    await new Shop(running).open('east')
    const socket = createServer().listen(fleet.port + 10, '127.0.0.1')
    await once(socket, 'listening')
    socket.close()
    expect(readdirSync(join(home, 'members/east')).sort()).toEqual(['pki', 'store'])
  }, 120_000)
})
