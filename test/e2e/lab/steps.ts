/** Tells how long each step took. */
export type Steps = {
  /** Runs the step and prints its time. */
  time<T>(name: string, step: () => Promise<T> | T): Promise<T>
}

export function printedSteps(lab: string): Steps {
  return {
    time: async (name, step) => {
      const started = performance.now()
      const done = await step()
      const seconds = ((performance.now() - started) / 1000).toFixed(1)
      process.stdout.write(`lab ${lab}: ${name} in ${seconds} s\n`)
      return done
    },
  }
}
