import type { Reporter, TestModule } from 'vitest/node'

/** Says at the end of a run which tests were skipped, and why. */
export class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = new Map<string, number>()
    for (const module of modules) {
      for (const test of module.children.allTests('skipped')) {
        const result = test.result()
        const reason = (result.state === 'skipped' && result.note) || 'no reason given'
        const line = `${module.relativeModuleId}: ${reason}`
        skipped.set(line, (skipped.get(line) ?? 0) + 1)
      }
    }
    if (skipped.size === 0) return
    process.stdout.write('\nskipped:\n')
    for (const [line, count] of skipped) process.stdout.write(`  ${count} in ${line}\n`)
  }
}
