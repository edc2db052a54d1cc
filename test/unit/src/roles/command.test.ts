import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { defineCommand, type Environment } from '../../../../src/roles/command.ts'
import * as setting from '../../../../src/roles/setting.ts'
import { temporaryFolder } from '../../../support/fleet.ts'

const words = { placeholder: 'X', description: 'What it is.' }
const settings = {
  port: setting.integer({ ...words, default: '7443' }, 0, 65_535),
  clusterId: setting.optional(setting.clusterId(words)),
  members: setting.listOf(setting.clusterId({ ...words, default: 'east,west' }), 9),
  block: setting.optional(setting.cidr(words)),
  logLevel: setting.oneOf({ ...words, default: 'info' }, ['debug', 'info']),
}

async function run(args: readonly string[], environment: Environment = {}): Promise<unknown> {
  let seen: unknown
  const definition = {
    name: 'try',
    description: 'x',
    settings,
    run: async (values: unknown) => {
      seen = values
    },
  }
  await defineCommand(definition, environment).parseAsync([...args], { from: 'user' })
  return seen
}

describe('settings', () => {
  let folder: ReturnType<typeof temporaryFolder>
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(() => folder.dispose())

  function file(text: string): string {
    const path = join(folder.path, 'isthmus.yaml')
    writeFileSync(path, text)
    return path
  }

  it('have defaults', async () => {
    expect(await run([])).toEqual({
      port: 7443,
      clusterId: undefined,
      members: ['east', 'west'],
      logLevel: 'info',
    })
  })

  it('are read again from the file, below what flags and the environment say', async () => {
    const path = file('port: 1\nmembers: [a]\n')
    let again = (): unknown => undefined
    const run = async (_: unknown, reread: () => unknown): Promise<void> => {
      again = reread
    }
    const definition = { name: 'try', description: 'x', settings, run }
    await defineCommand(definition, {}).parseAsync(['--config', path, '--port', '2'], { from: 'user' })
    expect(again()).toMatchObject({ port: 2, members: ['a'] })
    file('port: 3\nmembers: [a, b]\n')
    expect(again()).toMatchObject({ port: 2, members: ['a', 'b'] })
    file('members: [A!]\n')
    expect(again).toThrow('must be')
  })

  it('come from flags before the environment before the file', async () => {
    const path = file('port: 1\ncluster-id: file\nmembers: [a, b]\nlog-level: debug\n')
    const environment = { ISTHMUS_PORT: '2', ISTHMUS_CLUSTER_ID: 'environment', ISTHMUS_CONFIG: path }
    expect(await run(['--port', '3'], environment)).toEqual({
      port: 3,
      clusterId: 'environment',
      members: ['a', 'b'],
      logLevel: 'debug',
    })
  })

  it.each([
    [['--port', 'x'], {}, '--port must be a whole number from 0 to 65535, not "x"'],
    [['--port', '70000'], {}, '--port must be a whole number from 0 to 65535, not "70000"'],
    [[], { ISTHMUS_LOG_LEVEL: 'loud' }, 'ISTHMUS_LOG_LEVEL must be one of debug, info, not "loud"'],
    [['--members', 'a,A'], {}, /^--members must be one or two DNS labels .*, not "a,A"$/],
    [['--members', 'a,a'], {}, '--members must not name "a" twice, not "a,a"'],
    [['--members', 'a,b,c,d,e,f,g,h,i,j'], {}, /^--members must name at most 9, not/],
    [
      ['--block', '10.0.0.1/16'],
      {},
      '--block must be blocks of addresses, and 10.0.0.1/16 is an address in 10.0.0.0/16, not "10.0.0.1/16"',
    ],
    [['--block', '10.0.0.0/40'], {}, '--block must be blocks of addresses such as 10.0.0.0/16, not'],
    [['--cluster-id', 'a.b.c'], {}, /^--cluster-id must be one or two DNS labels/],
    [['--config', '/nowhere.yaml'], {}, /^the config file \/nowhere\.yaml cannot be read: ENOENT/],
  ])('%j are refused in one sentence', async (args, environment, message) => {
    await expect(run(args, environment)).rejects.toThrow(message)
  })

  it.each([
    ['port: x', /isthmus\.yaml: port must be a whole number from 0 to 65535, not "x"$/],
    ['ports: 1', /isthmus\.yaml: ports is no setting of this command$/],
    ['port: {a: 1}', /isthmus\.yaml: port must be a text, a number or a list of them$/],
    ['- 1', /isthmus\.yaml must hold names and values$/],
    ['a: [', /isthmus\.yaml cannot be read: /],
  ])('in a file, %j are refused in one sentence', async (text, message) => {
    await expect(run(['--config', file(text)])).rejects.toThrow(message)
  })

  it('are all in the help, with their environment variables', () => {
    const definition = { name: 'try', description: 'x', settings, run: async () => undefined }
    const help = defineCommand(definition, {}).helpInformation()
    for (const name of [
      '--port <X>',
      '--cluster-id <X>',
      '--members <X>',
      '--log-level <X>',
      '--config <FILE>',
    ]) {
      expect(help).toContain(name)
    }
    expect(help.replace(/\s+/g, ' ')).toContain('What it is. (env: ISTHMUS_PORT, default: 7443)')
  })
})

describe('a setting', () => {
  it.each([
    [setting.duration(words), '1h30m', 5_400_000],
    [setting.duration(words), '90s', 90_000],
    [setting.duration(words, '1h'), '60m', 3_600_000],
    [setting.file(words), 'tsconfig.json', readFileSync('tsconfig.json', 'utf8')],
    [setting.address(words), 'hub.example.com:7443', 'https://hub.example.com:7443'],
    [setting.address(words), '[::1]:7443', 'https://[::1]:7443'],
    [setting.cidr(words), '10.0.0.0/16', '10.0.0.0/16'],
    [setting.cidrs(words, 1), '10.0.0.0/16, fd00::/112', ['10.0.0.0/16', 'fd00::/112']],
    [setting.cidrs(words), '10.0.0.0/16,10.1.0.0/16', ['10.0.0.0/16', '10.1.0.0/16']],
    [setting.ipAddress(words), '::', '::'],
    [setting.dnsName(words), 'web.shop.svc.ClusterSet.local.', 'web.shop.svc.ClusterSet.local.'],
    [setting.dnsName(words), '_http._tcp.web', '_http._tcp.web'],
    [setting.text(words), 'x', 'x'],
  ])('%# reads %j', (of, text, value) => expect(of.parse(text)).toEqual(value))

  it.each([
    [setting.duration(words), '90'],
    [setting.duration(words), '1h30'],
    [setting.duration(words, '1h'), '1h1ms'],
    [setting.file(words), '/nowhere.pem'],
    [setting.address(words), 'hub/path'],
    [setting.address(words), ''],
    [setting.cidr(words), '10.0.0.1/16'],
    [setting.cidrs(words), '10.0.0.0/8,10.1.0.0/16'],
    [setting.cidrs(words, 1), '10.0.0.0/16,10.1.0.0/16'],
    [setting.ipAddress(words), 'localhost'],
    [setting.dnsName(words), '.'],
    [setting.dnsName(words), 'we b.shop'],
    [setting.dnsName(words), 'web..shop'],
    [setting.dnsName(words), `${'a'.repeat(64)}.shop`],
    [setting.dnsName(words), Array(128).fill('a').join('.')],
    [setting.text(words), ''],
  ])('%# refuses %j', (of, text) => expect(() => of.parse(text)).toThrow(/^must /))
})
