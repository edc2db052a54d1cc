// The shared libraries of a program, for a root filesystem that it shall run in.
import { copyFileSync, existsSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { RunProgram } from './archive.ts'

/** Copies what the program, or the library, is linked with to the same paths below `root`. */
export async function copyLibraries(program: string, root: string, run: RunProgram): Promise<void> {
  const libraries = (await run(['ldd', program])).match(/[/]\S+/g) ?? []
  for (const library of libraries) {
    const copy = join(root, library)
    mkdirSync(dirname(copy), { recursive: true })
    if (!existsSync(copy)) copyFileSync(realpathSync(library), copy)
  }
}
