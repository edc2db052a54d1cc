import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { courseOf, readTrace, whyNoTrace } from './trace.ts'

const program = join(import.meta.dirname, 'store-writer.ts')
const rounds = 30
/** A creation and an update each, and a deletion in every third. */
const answers = 70

/** The course of one writer's calls, as `courseOf` shows it. */
function trace(): string {
  const parent = mkdtempSync(join(tmpdir(), 'isthmus-sync-'))
  try {
    const output = join(parent, 'trace')
    const options = ['-f', '-y', '-o', output, '-e', 'trace=write,fdatasync,fsync']
    const command = [process.execPath, program, join(parent, 'store'), '1', `${rounds}`]
    const ran = spawnSync('strace', [...options, ...command], { encoding: 'utf8' })
    expect(ran.stderr).toBe('')
    expect(ran.stdout.trim().split('\n')).toHaveLength(answers)
    return courseOf(readTrace(readFileSync(output, 'utf8')))
  } finally {
    rmSync(parent, { recursive: true })
  }
}

const why = whyNoTrace()

describe('an answered write', () => {
  const reason = why === undefined ? '' : ` (skipped: ${why})`
  it.skipIf(why !== undefined)(`was appended to the log and then synced before its answer${reason}`, () => {
    const untilAnswer = trace().split('w').slice(0, -1)
    expect(untilAnswer).toHaveLength(answers)
    for (const course of untilAnswer) expect(course).toMatch(/a[sS]*sS$/)
  })
})
