import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { goProgram } from '../support/go-module.ts'
import { goYamlFacts, toFact } from '../support/go-yaml.ts'

const program = goProgram({ module: 'test/peers/goyaml' }, 'test:clients')

it.skipIf('missing' in program)('what is known of sigs.k8s.io/yaml is so', () => {
  const input = goYamlFacts.map(({ text }) => `${JSON.stringify(text)}\n`).join('')
  const { stdout } = spawnSync('path' in program ? program.path : '', { input, encoding: 'utf8' })
  const said = stdout
    .trim()
    .split('\n')
    .map(line => toFact(JSON.parse(line)))
  expect(said).toEqual(goYamlFacts)
})
