/** Servers in a process of their own, seen from the test. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Identity } from '../../../src/identity/certificate.ts'
import type { Load } from './probe.ts'

export type Server = {
  readonly name: string
  readonly url: string
  readonly ca: string
  readonly identity: Identity
}

export type Started = { readonly servers: readonly Server[] }

export type Target = Started & {
  /** Of its main thread, since the last question. */
  load(): Promise<Load>
  /** How many times slower than it should be its machine is now. */
  slowness(): Promise<number>
  /** What it said when it crashed; undefined while it runs. */
  crash(): string | undefined
  stop(): Promise<void>
  /** At once, whatever it is doing. */
  kill(): Promise<void>
}

const maxOutput = 20_000

export async function startTarget(execArgv: readonly string[] = []): Promise<Target> {
  const child = fork(new URL('./server.ts', import.meta.url), [], {
    execArgv: [...execArgv],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let output = ''
  const gather = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-maxOutput)
  }
  child.stdout?.on('data', gather)
  child.stderr?.on('data', gather)
  let ended: string | undefined
  const exit = once(child, 'exit').then(([code, signal]) => {
    ended = `the server ended with ${code ?? signal}:\n${output}`
  })
  const answer = async (): Promise<unknown> => {
    const gone = new AbortController()
    void exit.then(() => gone.abort())
    const [message] = await once(child, 'message', { signal: gone.signal })
    return message
  }
  // The server sends its first message when everything answers.
  const { servers } = (await answer().catch(() => Promise.reject(new Error(ended)))) as Started
  return {
    servers,
    load: async () => {
      child.send('load')
      return (await answer()) as Load
    },
    slowness: async () => {
      child.send('slowness')
      return (await answer()) as number
    },
    crash: () => ended,
    kill: async () => {
      child.kill('SIGKILL')
      await exit
    },
    stop: async () => {
      if (ended === undefined) child.disconnect()
      await exit
    },
  }
}
