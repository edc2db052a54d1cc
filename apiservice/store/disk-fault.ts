import { errorText } from '../../src/kernel/abort.ts'

/** Of a write that has got no answer for long. */
export const hangs = 'its disk does not answer'

/** By what the C library says. */
const faults: readonly (readonly [said: RegExp, fault: string])[] = [
  [/no space left on device/i, 'its disk is full'],
  [/disk quota exceeded/i, 'the quota of its disk is used up'],
  [/read-only file system/i, 'its disk is read-only'],
  [/input\/output error/i, 'its disk has errors'],
  [/answered changes$/, 'its disk has lost changes'],
]

/** What keeps a store from writing, for anybody to read: the error itself names files. */
export function diskFault(thrown: unknown): string {
  const text = errorText(thrown)
  return faults.find(([said]) => said.test(text))?.[1] ?? 'its disk fails'
}
