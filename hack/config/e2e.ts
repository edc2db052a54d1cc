import { defineConfig } from 'vitest/config'
import { SkipReporter } from './skips.ts'

/** Tests on real clusters, one lab at a time. `npm run test:e2e` runs them, plain `npm test` does not. */
export default defineConfig({
  test: {
    root: '.',
    include: ['test/e2e/**/*.e2e.ts'],
    reporters: ['verbose', new SkipReporter()],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
})
