// deploy/ as a kube-apiserver takes it, which knows every field.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { copyOfDeploy, overlays } from '../support/deploy.ts'
import { useLab } from './lab/use-lab.ts'

/** Kinds that only OpenShift has. */
const elsewhere = ['dns/openshift']

describe('a kube-apiserver', () => {
  const lab = useLab({ name: 'manifests', count: 1, nodes: false })
  let copy = ''
  const create = (path: string, ...more: readonly string[]): Promise<string> =>
    lab
      .cluster(0)
      .kubectl.run(['apply', '--validate=strict', '--dry-run=server', '-k', join(copy, path), ...more])

  beforeAll(async () => {
    copy = copyOfDeploy(lab.folder)
    for (const namespace of ['isthmus-hub', 'isthmus-system', 'isthmus-uninstall'])
      await lab.cluster(0).kubectl.run(['create', 'namespace', namespace])
  })

  it.each(overlays.filter(path => !elsewhere.includes(path)))('takes deploy/%s', async path => {
    const output = await create(path)
    expect(output).not.toBe('')
    expect(output.split('\n').filter(line => line !== '' && !line.endsWith('(server dry run)'))).toEqual([])
  })

  it('refuses what it does not know', async () => {
    const file = join(copy, 'hub/deployment.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('replicas:', 'replicaz:'))
    await expect(create('hub')).rejects.toThrow('unknown field "spec.replicaz"')
  })
})
