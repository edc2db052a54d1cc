import { spawn } from 'node:child_process'
import { labEnvironment } from './daemon.ts'

/** Runs a program to its end and returns what it printed; throws its complaint. */
export function run(argv: readonly string[], options: RunOptions): Promise<string> {
  const [program = '', ...args] = argv
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: '/',
      env: labEnvironment(options.lab),
      timeout: options.timeoutMs ?? 60_000,
    })
    let output = ''
    let complaint = ''
    child.stdout.on('data', chunk => {
      output += String(chunk)
    })
    child.stderr.on('data', chunk => {
      complaint += String(chunk)
    })
    child.on('error', reject)
    child.on('close', code =>
      code === 0 ? resolve(output) : reject(new Error(`${argv.join(' ')} ended with ${code}: ${complaint}`)),
    )
    child.stdin.on('error', () => undefined)
    child.stdin.end(options.input ?? '')
  })
}

export type RunOptions = {
  readonly lab: string
  readonly input?: string
  readonly timeoutMs?: number
}
