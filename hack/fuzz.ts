// npm run fuzz [seconds]: what npm test does for a few seconds, for longer. Failures are kept under test/fuzz/corpus.
import { spawnSync } from 'node:child_process'

const [seconds = '60', ...more] = process.argv.slice(2)
const ran = spawnSync('vitest', ['run', '--config', 'hack/config/vitest.ts', 'test/fuzz', ...more], {
  stdio: 'inherit',
  env: { ...process.env, FUZZ_SECONDS: seconds },
})
process.exit(ran.status ?? 1)
