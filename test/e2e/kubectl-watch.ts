// `kubectl get -w` as people run it: again when it has ended.
import { once } from 'node:events'
import { never, sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { Kubectl } from '../support/kubectl.ts'

export type KubectlWatch = {
  /** `TYPE NAME REVISION` of each event, in the order in which they came. */
  readonly events: readonly string[]
  /** What each kubectl said that ended after it had shown events, with its exit code. */
  readonly ends: readonly string[]
  stop(): Promise<void>
}

const columns = '{.type} {.object.metadata.name} {.object.metadata.resourceVersion}{"\\n"}'

export function watchAgain(kubectl: Kubectl, args: readonly string[]): KubectlWatch {
  const [events, ends]: [string[], string[]] = [[], []]
  const flags = ['--watch', '--output-watch-events', '-o', `jsonpath=${columns}`]
  let child = kubectl.start(['get', ...args, ...flags])
  let isStopped = false
  const run = async (): Promise<void> => {
    while (!isStopped) {
      let [text, complaint] = ['', '']
      child.stdout?.on('data', chunk => {
        text += String(chunk)
        const lines = text.split('\n')
        text = lines.pop() ?? ''
        events.push(...lines)
      })
      child.stderr?.on('data', chunk => {
        complaint += String(chunk)
      })
      const before = events.length
      const [code] = await once(child, 'close')
      if (isStopped) return
      if (events.length > before) ends.push(`${code} ${complaint}`.trim())
      await sleep(systemClock, 200, never)
      child = kubectl.start(['get', ...args, ...flags])
    }
  }
  const running = run()
  return {
    events,
    ends,
    stop: async () => {
      isStopped = true
      child.kill()
      await running
    },
  }
}
