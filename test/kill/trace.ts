import { spawnSync } from 'node:child_process'

/** Why system calls cannot be traced here, if they cannot; they must where `CI` is set. */
export function whyNoTrace(): string | undefined {
  if (process.env.CI !== undefined) return undefined
  const tried = spawnSync('strace', ['-f', '-o', '/dev/null', 'true'], { encoding: 'utf8' })
  if (tried.error !== undefined) return 'strace is not installed'
  return tried.status === 0 ? undefined : `strace does not work: ${tried.stderr.trim().split('\n')[0]}`
}

/** A system call that began, or that ended without an error, as `strace -f` tells it. */
export type Traced = { readonly at: 'begin' | 'end'; readonly call: string }

const unfinishedMark = ' <unfinished ...>'

/** Reads the output of `strace -f -o`, where a call that others interrupt stands on two lines. */
export function readTrace(text: string): readonly Traced[] {
  const unfinished = new Map<string, string>()
  const events: Traced[] = []
  for (const line of text.split('\n')) {
    const thread = line.slice(0, line.indexOf(' '))
    const [, rest] = / resumed>(.*)$/.exec(line) ?? []
    const call = rest === undefined ? line : `${unfinished.get(thread) ?? ''}${rest}`
    if (rest === undefined) events.push({ at: 'begin', call })
    if (line.endsWith(unfinishedMark)) unfinished.set(thread, line.slice(0, -unfinishedMark.length))
    else if (/\) += \d+(<[^>]*>)?$/.test(line)) events.push({ at: 'end', call })
  }
  return events
}

/**
 * The course of writes to the log files of a store and to standard output in letters: `a` a log was appended to, `s` a
 * sync of it began, `S` a sync of it ended, `w` an answer began to be written.
 */
export function courseOf(events: readonly Traced[]): string {
  return events.map(letterOf).join('')
}

function letterOf({ at, call }: Traced): string {
  if (/ write\(1</.test(call)) return at === 'begin' ? 'w' : ''
  if (/ write\(\d+<[^>]*\/\d+\.log>/.test(call)) return at === 'end' ? 'a' : ''
  if (/ f(data)?sync\(\d+<[^>]*\/\d+\.log>/.test(call)) return at === 'end' ? 'S' : 's'
  return ''
}
