// docs/conformance: reports of the suite of the MCS API, all of them whole and all of them told.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../src/codec/yaml.ts'
import { tableRows } from '../support/markdown.ts'

const folder = 'docs/conformance'
const reports = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path =>
  path.endsWith('.yaml'),
)

type Report = {
  readonly groups: readonly {
    readonly tests: readonly { readonly passed: boolean; readonly skipped: boolean }[]
  }[]
  readonly passed: number
  readonly total: number
  readonly implementation: { readonly project: string; readonly version: string }
}

function read(path: string): Report {
  return Object(parseYaml(readFileSync(join(folder, path), 'utf8')).value)
}

describe('the conformance reports', () => {
  it.each(reports)('%s has all 27 specs, and all passed', path => {
    const { groups, passed, total, implementation } = read(path)
    const tests = groups.flatMap(group => group.tests)
    expect(tests).toHaveLength(27)
    expect(tests.filter(test => !test.passed || test.skipped)).toEqual([])
    expect([passed, total]).toEqual([27, 27])
    expect(implementation).toMatchObject({
      project: 'Isthmus',
      version: expect.stringMatching(/^0\.\d+\.\d+\+/),
    })
  })

  it('are listed on their page', () => {
    const rows = tableRows(readFileSync(join(folder, 'README.md'), 'utf8'))
    const linked = rows.map(row => /\]\((.*)\)/.exec(row[0] ?? '')?.[1])
    expect(linked.toSorted()).toEqual(reports.toSorted())
    for (const [index, path] of linked.entries()) {
      expect(rows[index]?.[3]).toBe(`\`${read(path ?? '').implementation.version}\``)
    }
  })
})
