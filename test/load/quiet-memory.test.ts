// What a process has taken for its start goes back to the system when it has nothing to do.
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
