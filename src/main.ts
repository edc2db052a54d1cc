import { runProgram } from './roles/process.ts'
import { makeProgram } from './roles/program.ts'

await runProgram(() => makeProgram(process.env).parseAsync(process.argv))
