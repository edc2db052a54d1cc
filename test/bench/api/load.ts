import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Call } from './connection.ts'
import type { Done, Job, JobResult, Server } from './job.ts'

/** The process that makes the load, as its parent sees it. */
export class LoadProcess {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'load-process.ts'), [], {
    serialization: 'advanced',
  })

  /** Rejects when a request was not answered as it has to be. */
  async run(job: Job): Promise<Done> {
    const ended = new AbortController()
    const onExit = (): void => ended.abort(new Error('the load process ended'))
    this.#child.once('exit', onExit)
    try {
      const answered = once(this.#child, 'message', { signal: ended.signal })
      this.#child.send(job)
      const [result]: JobResult[] = await answered
      if (result === undefined || 'fault' in result) throw new Error(result?.fault ?? 'no answer')
      return result
    } finally {
      this.#child.off('exit', onExit)
    }
  }

  /** Sends requests one after the other; rejects unless each is answered with this code. */
  async expect(server: Server, calls: readonly Call[], code: number): Promise<void> {
    const { codes } = await this.run({ type: 'ask', server, calls })
    const other = codes.findIndex(each => each !== code)
    if (other >= 0) throw new Error(`${calls[other]?.method} ${calls[other]?.path} answered ${codes[other]}`)
  }

  stop(): void {
    this.#child.kill()
  }
}
