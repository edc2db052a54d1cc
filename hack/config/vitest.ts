import { defineConfig } from 'vitest/config'
import { SkipReporter } from './skips.ts'

export default defineConfig({
  test: {
    root: '.',
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/left-behind.ts', 'test/support/seed.ts'],
    reporters: ['default', new SkipReporter()],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
