// deploy/dns: what can be applied, with one address in all of it.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../src/codec/yaml.ts'
import { dnsRules } from '../../src/roles/component-rights.ts'
import { kubectlBinaries } from '../support/kubectl.ts'

const folder = 'deploy/dns'
const overlays = readdirSync(folder).filter(name => name !== 'base')
const [kubectl] = kubectlBinaries()

function documents(text: string): readonly Record<string, unknown>[] {
  return text
    .split(/^---$/m)
    .map(part => parseYaml(part).value)
    .filter(value => value !== null && value !== undefined)
    .map(value => Object(value))
}

describe('the overlays of deploy/dns', () => {
  const service = documents(readFileSync(join(folder, 'base', 'service.yaml'), 'utf8'))[0]

  it('have a Service with port 53 for UDP and TCP', () => {
    expect(service).toMatchObject({
      kind: 'Service',
      spec: {
        clusterIP: '10.96.0.53',
        ports: [
          { port: 53, protocol: 'UDP' },
          { port: 53, protocol: 'TCP' },
        ],
      },
    })
  })

  it('give the responder the rights that it has in a standalone member', () => {
    const rights = documents(readFileSync(join(folder, 'base', 'rbac.yaml'), 'utf8'))
    expect(rights.find(({ kind }) => kind === 'ClusterRole')).toMatchObject({ rules: dnsRules })
  })

  it.each(overlays)('%s forwards to the address of the Service', overlay => {
    const files = readdirSync(join(folder, overlay)).filter(file => file !== 'kustomization.yaml')
    const text = files.map(file => readFileSync(join(folder, overlay, file), 'utf8')).join('\n')
    expect(text).toMatch(/10\.96\.0\.53/)
    expect(text).toContain('clusterset.local')
  })

  it.skipIf(kubectl === undefined).each(overlays)('%s is built by kubectl', overlay => {
    const ran = spawnSync(kubectl?.path ?? '', ['kustomize', join(folder, overlay)], { encoding: 'utf8' })
    expect(ran.stderr).toBe('')
    const kinds = documents(ran.stdout).map(({ kind }) => kind)
    expect(kinds).toEqual(expect.arrayContaining(['ServiceAccount', 'Service', 'ClusterRole', 'Deployment']))
    expect(kinds.length).toBe(8)
  })
})
