// npm run fuzz [seconds]: what npm test does for a few seconds, for longer, and how long the heaviest requests keep a server
// from answering others. Failures are kept under test/fuzz/corpus.
import { spawnSync } from 'node:child_process'

const [seconds = '60', ...more] = process.argv.slice(2)
const ran = spawnSync('vitest', ['run', '--config', 'hack/config/vitest.ts', 'test/fuzz', ...more], {
  stdio: 'inherit',
  env: { FUZZ_LONGEST_MS: '200', SEED: 'random', ...process.env, FUZZ_SECONDS: seconds },
})
process.exit(ran.status ?? 1)
