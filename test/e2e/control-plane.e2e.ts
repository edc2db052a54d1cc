import { describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useLab } from './lab/use-lab.ts'

describe('control planes alone', () => {
  const lab = useLab({ name: 'control-planes', count: 2, nodes: false })
  const kubectl = (index: number, ...args: readonly string[]): Promise<string> =>
    lab.cluster(index).kubectl.run(args)

  it('are apart', async () => {
    await kubectl(0, 'create', 'namespace', 'shop')
    expect(await kubectl(0, 'get', 'namespaces', '-o', 'name')).toContain('namespace/shop')
    expect(await kubectl(1, 'get', 'namespaces', '-o', 'name')).not.toContain('namespace/shop')
  })

  it('have the controllers of Kubernetes', async ({ skip }) => {
    skip(
      lab.cluster(0).part('kube-controller-manager') === undefined,
      'KUBEBUILDER_ASSETS has no kube-controller-manager',
    )
    const { kubectl: east } = lab.cluster(0)
    await east.run(['create', 'namespace', 'owned'])
    await east.run(['create', 'configmap', 'owner', '--namespace=owned'])
    const uid = await east.run([
      'get',
      'configmap',
      'owner',
      '--namespace=owned',
      '-o',
      'jsonpath={.metadata.uid}',
    ])
    const dependent = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'dependent',
        namespace: 'owned',
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }],
      },
    }
    await east.run(['create', '-f', '-'], JSON.stringify(dependent))
    await east.run(['delete', 'configmap', 'owner', '--namespace=owned'])
    await east.run(['wait', '--for=delete', 'configmap/dependent', '--namespace=owned', '--timeout=60s'])
    await east.run(['delete', 'namespace', 'owned', '--timeout=60s'])
  })

  it('find their state after the API server was killed', async () => {
    const cluster = lab.cluster(1)
    await cluster.kubectl.run(['create', 'configmap', 'kept', '--namespace=default'])
    await cluster.part('kube-apiserver')?.stop('SIGKILL')
    await expect(cluster.kubectl.run(['get', 'configmap', 'kept'])).rejects.toThrow('refused')
    cluster.part('kube-apiserver')?.start()
    await cluster.ready()
    expect(await cluster.kubectl.run(['get', 'configmap', 'kept', '-o', 'name'])).toBe('configmap/kept\n')
  })

  it('publish what aggregated API servers trust', async () => {
    const path = "jsonpath={.data['requestheader-client-ca-file']}"
    await eventually(async () => {
      const published = await kubectl(
        0,
        'get',
        'configmap',
        'extension-apiserver-authentication',
        '--namespace=kube-system',
        '-o',
        path,
      )
      expect(published.trim()).toBe(lab.cluster(0).identities.of('front-proxy-ca').certificate.trim())
    })
  })
})
