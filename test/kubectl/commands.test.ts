// What people type: a real kubectl against a member of a real fleet.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type Fleet, startFleet, temporaryFolder } from '../support/fleet.ts'
import { Kubectl, kubectlBinaries } from '../support/kubectl.ts'

const service = (name: string): string => `
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: shop}
spec: {ports: [{name: http, port: 80}]}
`

const serviceExport = (name: string): string => `
apiVersion: multicluster.x-k8s.io/v1beta1
kind: ServiceExport
metadata: {name: ${name}, namespace: shop}
`

const serviceImport = (name: string): string => `
apiVersion: multicluster.x-k8s.io/v1beta1
kind: ServiceImport
metadata: {name: ${name}, namespace: lonely}
spec: {type: ClusterSetIP, ips: [10.9.8.7], ports: [{name: http, port: 80, protocol: TCP}]}
`

const binaries = kubectlBinaries()
const folder = temporaryFolder()
let fleet: Fleet | undefined

beforeAll(async () => {
  if (binaries.length > 0) fleet = await startFleet({ home: join(folder.path, 'home') })
})

afterAll(async () => {
  await fleet?.stop()
  folder.dispose()
})

function editor(name: string, script: string): string {
  const path = join(folder.path, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

describe.each(binaries.length > 0 ? binaries : [{ name: 'kubectl', path: '' }])('$name', binary => {
  let east: Kubectl
  let hub: Kubectl

  beforeAll(async () => {
    if (fleet === undefined) return
    const name = `cache-${binary.name.replaceAll(/\W/g, '_')}`
    east = new Kubectl({
      binary,
      kubeconfig: fleet.kubeconfig,
      context: 'east',
      cacheDir: join(folder.path, name),
    })
    hub = new Kubectl({
      binary,
      kubeconfig: fleet.kubeconfig,
      context: 'hub',
      cacheDir: join(folder.path, `${name}-hub`),
    })
    await east.run(['delete', 'namespace', 'shop', 'lonely', '--ignore-not-found'])
    await east.run(['create', 'namespace', 'shop'])
    await east.run(['create', 'namespace', 'lonely'])
    await east.run(['apply', '-f', '-'], `${service('web')}---${serviceExport('web')}`)
  })

  const verb = (name: string, body: () => Promise<void>): void =>
    it(name, async context => {
      if (fleet === undefined)
        context.skip('no kubectl: npm run test:kubectl builds some, KUBECTLS names others')
      await body()
    })

  verb('gets exports and imports by name and short name', async () => {
    expect(await east.run(['get', 'serviceexports', '-n', 'shop'])).toMatch(/^NAME .*AGE\nweb /)
    expect(await east.run(['get', 'svcex', 'web', '-n', 'shop', '-o', 'name'])).toBe(
      'serviceexport.multicluster.x-k8s.io/web\n',
    )
    await eventually(async () => {
      expect(await east.run(['get', 'svcim', '-A'])).toMatch(/shop +web +ClusterSetIP/)
    })
  })

  verb('shows more with -o wide, and -o yaml shows what was sent', async () => {
    const narrow = (await east.run(['get', 'svcim', '-n', 'shop'])).split('\n')[0] ?? ''
    const wide = (await east.run(['get', 'svcim', '-n', 'shop', '-o', 'wide'])).split('\n')[0] ?? ''
    expect(wide.length).toBeGreaterThan(narrow.length)
    expect(await east.run(['get', 'svcex', 'web', '-n', 'shop', '-o', 'yaml'])).toContain(
      'kind: ServiceExport',
    )
  })

  verb('watches with get -w', async () => {
    const watching = east.start(['get', 'svcex', '-n', 'shop', '-w', '-o', 'name'])
    let seen = ''
    watching.stdout?.on('data', chunk => {
      seen += String(chunk)
    })
    try {
      await eventually(() => expect(seen).toContain('/web'))
      await east.run(['apply', '-f', '-'], serviceExport('watched'))
      await eventually(() => expect(seen).toContain('/watched'))
    } finally {
      watching.kill('SIGTERM')
    }
    await east.run(['delete', 'svcex', 'watched', '-n', 'shop'])
  })

  verb('describes an export with its conditions and events', async () => {
    await eventually(async () => {
      const text = await east.run(['describe', 'svcex', 'web', '-n', 'shop'])
      expect(text).toMatch(/Type: +Valid/)
      expect(text).toMatch(/Events:\n +Type +Reason/)
    })
  })

  verb('applies twice without a change, and applies a change', async () => {
    const labelled = `${serviceExport('web')}spec: {exportedLabels: {tier: front}}\n`
    expect(await east.run(['apply', '-f', '-'], serviceExport('web'))).toContain('unchanged')
    expect(await east.run(['apply', '-f', '-'], labelled)).toContain('configured')
    expect(
      await east.run(['get', 'svcex', 'web', '-n', 'shop', '-o', 'jsonpath={.spec.exportedLabels.tier}']),
    ).toBe('front')
    expect(await east.run(['apply', '-f', '-'], service('web'))).toContain('unchanged')
  })

  verb('applies on the server, after it has applied from here, and shows and forces conflicts', async () => {
    const labels = (value: string) => `${serviceExport('owned')}spec: {exportedLabels: {a: "${value}"}}\n`
    const onServer = ['apply', '--server-side', '-f', '-']
    await east.run(['apply', '-f', '-'], labels('1'))
    expect(await east.run(onServer, labels('2'))).toContain('serverside-applied')
    const refused = await east.try([...onServer, '--field-manager=other'], labels('3'))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('conflict with "kubectl": .spec.exportedLabels.a')
    await east.run([...onServer, '--field-manager=other', '--force-conflicts'], labels('3'))
    const shown = await east.run([
      'get',
      'svcex',
      'owned',
      '-n',
      'shop',
      '-o',
      'jsonpath={.spec.exportedLabels.a}',
    ])
    expect(shown).toBe('3')
    const web = service('web').replace('ports:', 'selector: {app: web}, ports:')
    expect(await east.run(onServer, web)).toContain('service/web serverside-applied')
    expect(await east.run(onServer, service('web'))).toContain('service/web serverside-applied')
    expect(await east.run(['get', 'svc', 'web', '-n', 'shop', '-o', 'jsonpath={.spec.selector}'])).toBe('')
  })

  verb('refuses an unknown field and names it', async () => {
    const ran = await east.try(['apply', '-f', '-'], `${serviceExport('bad')}spec: {nope: 1}\n`)
    expect(ran.code).not.toBe(0)
    expect(ran.stderr).toContain('unknown field "spec.nope"')
  })

  verb('edits with an editor that changes nothing and one that does', async () => {
    const nothing = await east.try(['edit', 'svcex', 'web', '-n', 'shop'], '', { EDITOR: 'true' })
    expect(nothing.code).toBe(0)
    expect(nothing.stdout + nothing.stderr).toContain('no changes made')
    const scripted = editor('editor.sh', 'sed -i "s/tier: front/tier: back/" "$1"')
    expect(await east.run(['edit', 'svcex', 'web', '-n', 'shop'], '', { EDITOR: scripted })).toContain(
      'edited',
    )
    expect(
      await east.run(['get', 'svcex', 'web', '-n', 'shop', '-o', 'jsonpath={.spec.exportedLabels.tier}']),
    ).toBe('back')
  })

  verb('patches by merge and by JSON patch', async () => {
    const merge = ['patch', 'svcex', 'web', '-n', 'shop', '--type=merge', '-p']
    expect(await east.run([...merge, '{"spec":{"exportedLabels":{"a":"1"}}}'])).toContain('patched')
    const json = ['patch', 'svcex', 'web', '-n', 'shop', '--type=json', '-p']
    await east.run([...json, '[{"op":"replace","path":"/spec/exportedLabels/a","value":"2"}]'])
    expect(
      await east.run(['get', 'svcex', 'web', '-n', 'shop', '-o', 'jsonpath={.spec.exportedLabels.a}']),
    ).toBe('2')
    expect((await east.try(['patch', 'svcex', 'web', '-n', 'shop', '-p', '{"spec":{}}'])).stderr).toMatch(
      /merge-patch\+json/,
    )
    expect(
      await east.run([
        'patch',
        'service',
        'web',
        '-n',
        'shop',
        '-p',
        '{"spec":{"ports":[{"port":81,"name":"b"}]}}',
      ]),
    ).toContain('patched')
    expect(
      await east.run(['get', 'service', 'web', '-n', 'shop', '-o', 'jsonpath={.spec.ports[*].port}']),
    ).toMatch(/81/)
  })

  verb('labels and annotates', async () => {
    await east.run(['label', 'svcex', 'web', '-n', 'shop', 'team=cart', '--overwrite'])
    await east.run(['annotate', 'svcex', 'web', '-n', 'shop', 'note=hello', '--overwrite'])
    expect(await east.run(['get', 'svcex', '-n', 'shop', '-l', 'team=cart', '-o', 'name'])).toContain('/web')
    await east.run(['label', 'svcex', 'web', '-n', 'shop', 'team-'])
    expect(await east.run(['get', 'svcex', '-n', 'shop', '-l', 'team=cart', '-o', 'name'])).toBe('')
  })

  verb('explains every field', async () => {
    expect(await east.run(['explain', 'serviceexport', '--recursive'])).toContain('exportedLabels')
    expect(await east.run(['explain', 'serviceimport.spec.ports'])).toMatch(/appProtocol/)
    expect(await east.run(['explain', 'serviceimport', '--recursive'])).toContain('trafficDistribution')
  })

  verb('lists the resources and versions that there are', async () => {
    const resources = await east.run(['api-resources', '--api-group=multicluster.x-k8s.io'])
    expect(resources).toMatch(
      /serviceexports +svcex,svcexport +multicluster\.x-k8s\.io\/v1beta1 +true +ServiceExport/,
    )
    expect(await east.run(['api-versions'])).toContain('multicluster.x-k8s.io/v1alpha1')
  })

  verb('shows events, verbs and raw answers', async () => {
    await eventually(async () => {
      expect(await east.run(['events', '-n', 'shop', '--for=serviceexport/web'])).toContain(
        'ServiceExport/web',
      )
    })
    const verbs = await east.run(['api-resources', '-o', 'wide', '--verbs=deletecollection'])
    expect(verbs).toMatch(/^serviceexports .*create.*watch/m)
    const path = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceexports/web'
    expect(JSON.parse(await east.run(['get', '--raw', path]))).toMatchObject({ kind: 'ServiceExport' })
  })

  verb('waits for a condition and for a deletion', async () => {
    await east.run(['wait', '--for=condition=Valid', 'svcex/web', '-n', 'shop', '--timeout=20s'])
    await east.run(['apply', '-f', '-'], serviceExport('short'))
    await east.run(['delete', 'svcex', 'short', '-n', 'shop', '--wait=false'])
    await east.run(['wait', '--for=delete', 'svcex/short', '-n', 'shop', '--timeout=20s'])
  })

  verb('answers auth can-i', async () => {
    expect(await east.run(['auth', 'can-i', 'create', 'serviceexports', '-n', 'shop'])).toBe('yes\n')
    const other = await east.try(['auth', 'can-i', 'create', 'serviceexports', '-n', 'shop', '--as=nobody'])
    expect(other.stdout).toBe('no\n')
    expect(await east.run(['auth', 'can-i', '--list', '-n', 'shop'])).toContain('Verbs')
  })

  verb('handles imports that a person wrote', async () => {
    await east.run(['create', '-f', '-'], serviceImport('mine'))
    expect(await east.run(['get', 'svcim', 'mine', '-n', 'lonely'])).toContain('10.9.8.7')
    await east.run([
      'patch',
      'svcim',
      'mine',
      '-n',
      'lonely',
      '--type=merge',
      '-p',
      '{"metadata":{"labels":{"a":"b"}}}',
    ])
    await east.run(['delete', 'svcim', 'mine', '-n', 'lonely', '--ignore-not-found'])
  })

  verb('deletes an export and then its import goes', async () => {
    expect(await east.run(['delete', 'svcex', 'web', '-n', 'shop'])).toContain('deleted')
    await eventually(async () => {
      expect(await east.run(['get', 'svcim', '-n', 'shop', '-o', 'name'])).toBe('')
    })
    expect((await east.try(['get', 'svcex', 'web', '-n', 'shop'])).stderr).toContain('NotFound')
  })

  verb('tells on the hub since when a service without an address has no export', async () => {
    const columns = ['NAME', 'TYPE', 'IP', 'CLUSTERS', 'PROBLEM', 'RELEASED', 'AGE']
    await eventually(async () => {
      const [header = '', row = ''] = (await hub.run(['get', 'css', 'shop.web'])).split('\n')
      expect(header.trim().split(/ +/)).toEqual(columns)
      const cell = (column: string): string => row.slice(header.indexOf(column)).split(/ {2,}/)[0] ?? ''
      expect({ ip: cell('IP'), problem: cell('PROBLEM'), released: cell('RELEASED') }).toEqual({
        ip: '',
        problem: '',
        released: expect.stringMatching(/^\d+s$/),
      })
    })
  })

  verb('deletes a namespace with all that is in it', async () => {
    await east.run(['apply', '-f', '-'], serviceExport('inside'))
    await east.run(['delete', 'namespace', 'shop', 'lonely', '--timeout=30s'])
    expect((await east.try(['get', 'namespace', 'shop'])).stderr).toContain('NotFound')
  })
})
