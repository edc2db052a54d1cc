// Go programs as people have them: informers of client-go and controller-runtime on every kind of a member and of the
// hub, over restarts of the fleet; and what controllers are built of. The program says what each check came to.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AnyKind, Server } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import { type Fleet, startFleet, temporaryFolder } from '../support/fleet.ts'
import { contextClient } from '../support/fleet-client.ts'
import { goProgram } from '../support/go-module.ts'
import { namespaces } from '../support/memory-fleet.ts'
import { namespace, objectsByResource, resourceNames } from '../support/written-objects.ts'
import { runChecks, type Signal } from './program.ts'

const program = goProgram({ module: 'test/clients' }, 'test:clients')
const isFull = process.env.ISTHMUS_GO === 'build'
/** Every object goes through five changes. */
const objectsOfEach = isFull ? 200 : 20

const forms = ['typed', 'unstructured', 'metadata']
const parts = [
  'maps every kind by aggregated discovery',
  'maps every kind by legacy discovery',
  'collects garbage with metadata alone',
  'applies on the server, with conflicts and force',
  'elects a leader, and another when it leaves',
  'removes what was owned by an object that is gone',
  'retries on conflict with many writers',
  'sends protocol buffers and reads JSON',
  'reads a list in pages of one revision',
  'reads every schema of OpenAPI v3',
  'makes structured-merge types of every schema',
  'decodes every kind strictly into its Go type',
]

/** Objects of these are taken back by the hub, for they stand for exports that there are not. */
const contested = ['clustersetservices']

const runs: readonly { context: string; server: Server; lists: string }[] = [
  { context: 'east', server: 'member', lists: 'streaming lists' },
  { context: 'hub', server: 'hub', lists: 'streaming lists' },
  ...(isFull
    ? [
        { context: 'east', server: 'member', lists: 'plain lists' } as const,
        { context: 'hub', server: 'hub', lists: 'plain lists' } as const,
      ]
    : []),
]

describe.each(runs)('Go clients of $context with $lists', ({ context, server, lists }) => {
  const served = kinds.filter(({ servers }) => servers.includes(server) || servers.includes('standalone'))
  const isStreaming = lists === 'streaming lists'
  const expected = expectedChecks(served, isStreaming)
  const folder = temporaryFolder()
  let problems: ReadonlyMap<string, string> = new Map()
  let fleet: Fleet | undefined

  const restart = async (started: Fleet, signal: Signal): Promise<Fleet> => {
    await (signal === 'SIGKILL' ? started.kill() : started.stop())
    return startFleet({ home: started.home, port: started.port })
  }

  beforeAll(async () => {
    if ('missing' in program) return
    let running = await startFleet({ home: join(folder.path, 'home') })
    fleet = running
    await makeNamespace(running, context)
    const objects = join(folder.path, 'objects.json')
    writeFileSync(objects, JSON.stringify(objectsByResource(served, objectsOfEach)))
    const server = [`-kubeconfig=${running.kubeconfig}`, `-context=${context}`]
    const work = [`-objects=${objects}`, `-contested=${contested.join(',')}`]
    problems = await runChecks({
      program: program.path,
      args: [...server, ...work, ...(isStreaming ? [] : ['-only=informers'])],
      isStreaming,
      restart: async signal => {
        running = await restart(running, signal)
        fleet = running
      },
    })
  }, 900_000)

  afterAll(async () => {
    await fleet?.stop()
    folder.dispose()
  })

  it.for(expected)('%s', (name, { skip }) => {
    if ('missing' in program) skip(program.missing)
    expect(problems.get(name) ?? 'not checked').toBe('')
  })

  it('check nothing that is not listed here', ({ skip }) => {
    if ('missing' in program) skip(program.missing)
    expect([...problems.keys()].filter(name => !expected.includes(name))).toEqual([])
  })
})

function expectedChecks(served: readonly AnyKind[], withParts: boolean): readonly string[] {
  const listed = served.filter(({ storage }) => storage !== 'review').flatMap(resourceNames)
  const written = served.filter(({ storage = 'stored' }) => storage === 'stored').flatMap(resourceNames)
  return [
    ...written.map(resource => `changes: ${resource}`),
    ...listed.flatMap(resource =>
      forms.flatMap(form => [`informer: ${form} ${resource}`, `informer: manager's ${form} ${resource}`]),
    ),
    ...(withParts ? parts.map(part => `part: ${part}`) : []),
  ]
}

async function makeNamespace({ kubeconfig }: Fleet, context: string): Promise<void> {
  const client = await contextClient(kubeconfig, context)
  await client.create(
    namespaces,
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    AbortSignal.timeout(30_000),
  )
  client.close()
}
