/**
 * The program. Compiled code is kept from one start to the next: it halves the time of a start and saves the memory of
 * the compiler. Where the folder cannot be written it is compiled each time.
 */
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/isthmus'))
const { runProgram } = await import('./roles/process.ts')
const { makeProgram } = await import('./roles/program.ts')

await runProgram(() => makeProgram(process.env).parseAsync(process.argv))
