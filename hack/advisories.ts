// npm run advisories: ends with 1 when the registry knows of a serious fault in what the program is made of.
import { runNpm } from './npm.ts'

const { stdout, stderr, status } = runNpm(['audit', '--omit=dev', '--json', '--audit-level=high'])

type Counts = { readonly total: number; readonly high: number; readonly critical: number }

/** Undefined when the registry does not say. */
function counted(text: string): Counts | undefined {
  try {
    const { metadata } = JSON.parse(text)
    return metadata?.vulnerabilities
  } catch {
    return
  }
}

const found = counted(stdout)
if (found === undefined) {
  process.stdout.write(
    `advisories: the registry does not tell (${/\d{3} [A-Z][\w ]+|E[A-Z]+/.exec(stderr + stdout)?.[0] ?? 'no answer'})\n`,
  )
} else {
  process.stdout.write(`advisories: ${found.total} known, ${found.high + found.critical} high or critical\n`)
  if (status !== 0) process.stdout.write(stdout)
  process.exitCode = status === 0 ? 0 : 1
}
