// npm test: everything that needs nothing but this machine. Arguments go on to vitest.
import { spawnSync } from 'node:child_process'

const ran = spawnSync('vitest', ['run', '--config', 'hack/config/vitest.ts', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exit(ran.status ?? 1)
