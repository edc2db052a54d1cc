import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { buildGo, builtGo, type GoProgram, goProgram } from '../../support/go-module.ts'

export type Part =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'

/** The programs of a cluster. */
export type Programs = {
  /** Undefined when `KUBEBUILDER_ASSETS` is set and has no such program. */
  find(name: Part | 'kubectl'): string | undefined
}

const names: readonly (Part | 'kubectl')[] = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
]

/** Ours, built once, which takes minutes; or those that `KUBEBUILDER_ASSETS` names, if `assets` is true. */
export function programs(assets: boolean): Programs {
  const given = process.env.KUBEBUILDER_ASSETS ?? ''
  const folder = assets && given !== '' ? given : builtPrograms()
  return {
    find: name => {
      const path = join(folder, name)
      return existsSync(path) ? path : undefined
    },
  }
}

/** Whether ours were built before. */
export function builtKubernetes(): boolean {
  return builtGo(kubernetesProgram()) !== undefined
}

function builtPrograms(): string {
  return namedPrograms(buildGo(kubernetesProgram()))
}

/** The etcd of the clusters, if it was built before. */
export function etcdProgram(): { path: string } | { missing: string } {
  const found = goProgram(kubernetesProgram(), 'programs')
  return 'missing' in found ? found : { path: join(namedPrograms(found.path), 'etcd') }
}

/** The folder in which every name of a Kubernetes program leads to the one program that is them all. */
function namedPrograms(built: string): string {
  const folder = join(dirname(built), 'bin')
  mkdirSync(folder, { recursive: true })
  for (const name of names) link(join('..', basename(built)), join(folder, name))
  return folder
}

function link(target: string, path: string): void {
  if (existsSync(path)) return
  rmSync(path, { force: true })
  symlinkSync(target, path)
}

/** Release builds learn their version from the linker; the one place that names it here is go.mod. */
function kubernetesProgram(): GoProgram {
  const module = 'test/e2e/kubernetes'
  const found = /^\tk8s[.]io[/]kubernetes v((\d+)[.](\d+)[.]\S+)$/m.exec(
    readFileSync(join(module, 'go.mod'), 'utf8'),
  )
  if (found === null) throw new Error(`${module}/go.mod names no version of k8s.io/kubernetes`)
  const [, version, major, minor] = found
  const variable = 'k8s.io/component-base/version.'
  return {
    module,
    ldflags: `-X ${variable}gitVersion=v${version} -X ${variable}gitMajor=${major} -X ${variable}gitMinor=${minor}`,
  }
}
