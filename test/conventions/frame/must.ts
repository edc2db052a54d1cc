import { it, type TestContext } from 'vitest'

/**
 * A test that proves lines of the contract (`contract.ts`). Its title begins with their numbers, so that a line is found
 * by its number. `docs/conventions.md` is made from these calls: lines and title have to be written out.
 */
export function must(
  lines: number | readonly number[],
  title: string,
  prove: (context: TestContext) => void | Promise<void>,
): void {
  it(`${[lines].flat().join(' ')} ${title}`, prove)
}
