// What a process has taken for its start goes back to the system when it has nothing to do.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pssMegabytes } from '../bench/memory.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { listenAt, type RoleProcess, startRole } from '../support/role-process.ts'

const home = temporaryFolder()
let role: RoleProcess

beforeAll(async () => {
  const port = await freePorts()
  role = await startRole(['apiserver', ...listenAt(home.path, port)])
}, 120_000)
afterAll(async () => {
  await role.stop()
  home.dispose()
})

it('a fifth of what a start has taken goes back, and nothing is said of it', async () => {
  const taken = pssMegabytes(role.pid)
  await eventually(() => expect(pssMegabytes(role.pid)).toBeLessThan(taken * 0.8), 110_000)
  expect(role.output.filter(line => /warning/i.test(line))).toEqual([])
}, 120_000)

const script = `
  import { processMemory } from './src/roles/process-memory.ts'
  let junk = Array.from({ length: 300_000 }, (_, i) => ({ i, text: 'x' + i }))
  const memory = processMemory()
  memory.collect(true)
  const before = memory.hasCollected()
  junk = []
  setInterval(() => {
    junk = Array.from({ length: 300 }, (_, i) => ({ i }))
    if (!memory.hasCollected()) return
    memory.collect(false)
    memory.collect(true)
    process.stdout.write([before, memory.hasCollected(), junk.length].join())
    process.exit()
  }, 100)
`

it('a process sees that its memory was collected as it was asked for, and then not yet again', async () => {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 110_000 })
  expect(stdout).toBe('false,false,300')
}, 120_000)
