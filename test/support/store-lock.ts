import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Has another process hold the store in a directory meanwhile: a lock is of a process, within one it says nothing. */
export async function whileInUse(directory: string, act: () => Promise<unknown>): Promise<void> {
  const program = `
    const { Level } = await import(${JSON.stringify(import.meta.resolve('level'))})
    await new Level(process.argv[1]).open()
    console.log('open')
    setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, directory])
  try {
    await once(child.stdout, 'data')
    await act()
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}
