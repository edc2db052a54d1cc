// npm run check: formatting and lint, types, promises, import law, dead code, sizes. The first red stops.
import { spawnSync } from 'node:child_process'

type Step = { readonly name: string; readonly command: readonly string[] }

const roots = ['src', 'apiservice', 'dns', 'hack', 'test']

const steps: readonly Step[] = [
  { name: 'types', command: ['node', 'node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.json'] },
  {
    name: 'lint',
    command: ['biome', 'check', '--config-path=hack/config/lint.json', '--error-on-warnings', ...roots],
  },
  { name: 'promises', command: ['oxlint', '--type-aware', '-c', 'hack/config/promises.json', ...roots] },
  {
    name: 'import law',
    command: ['depcruise', '--config', 'hack/config/depcruise.mjs', '--output-type', 'err', ...roots],
  },
  {
    name: 'dead code',
    command: ['knip', '--config', 'hack/config/knip.json', '--treat-config-hints-as-errors'],
  },
  { name: 'size ratchet', command: ['node', 'hack/ratchet.ts'] },
]

for (const step of steps) {
  const started = performance.now()
  const ran = spawnSync(step.command[0] ?? '', step.command.slice(1), { stdio: 'inherit' })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  process.stdout.write(`check: ${step.name} ${ran.status === 0 ? 'ok' : 'FAILED'} (${seconds} s)\n`)
  if (ran.status !== 0) process.exit(1)
}
