// npm run programs: builds every Go program that tests run, once; they are kept outside the repository.
import { dnsProgram, toolsProgram } from '../test/e2e/lab/images.ts'
import { programs } from '../test/e2e/lab/programs.ts'
import { buildGo } from '../test/support/go-module.ts'
import { releaseBinaries } from '../test/support/kubectl.ts'

const steps = {
  'kubectl of each release': () => releaseBinaries(),
  'clients of client-go and controller-runtime': () => buildGo({ module: 'test/clients' }),
  CoreDNS: () => dnsProgram(),
  'tools of the lab': () => toolsProgram(),
  Kubernetes: () => programs(false),
}

for (const [name, build] of Object.entries(steps)) {
  const started = performance.now()
  build()
  process.stdout.write(`${name}: ${((performance.now() - started) / 1000).toFixed(0)} s\n`)
}
