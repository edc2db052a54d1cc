/** Label and field selectors: pieces that have a meaning, in an order that may have none. */
import { type Next, oneOf } from '../random.ts'

const pieces = [
  'a',
  'app',
  'kubernetes.io/service-name',
  'metadata.name',
  'metadata.namespace',
  'spec.color',
  'sample',
  '=',
  '==',
  '!=',
  '!',
  ' in ',
  ' notin ',
  '(',
  ')',
  ',',
  ' ',
  '>',
  '<',
  '5',
  '\\,',
  '__proto__',
  '\u20ac',
  'a=b',
  '!a',
  'a in (b,c)',
  'a notin ()',
] as const

export function randomSelector(next: Next): string {
  return Array.from({ length: 1 + next(8) }, () => oneOf(pieces, next)).join('')
}
