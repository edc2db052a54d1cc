// Programs of the Go modules below test/, built once and kept outside the repository.
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'

export type GoProgram = {
  /** The folder with go.mod, from the root of the repository. */
  readonly module: string
  /** The package in it, `.` if left out. */
  readonly package?: string
  /** The name of the file, that of the package's folder if left out. */
  readonly name?: string
  /** Linker flags, such as `-X k8s.io/component-base/version.gitVersion=v1.36.2`. */
  readonly ldflags?: string
}

/** Where built programs are kept: `ISTHMUS_CACHE`, or `isthmus` in the user's cache folder. */
export function cacheFolder(): string {
  const ofUser = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache')
  return process.env.ISTHMUS_CACHE ?? join(ofUser, 'isthmus')
}

export function hasGo(): boolean {
  return spawnSync('go', ['version']).status === 0
}

/** The path of the program if it was built before. */
export function builtGo(program: GoProgram): string | undefined {
  const path = hasGo() ? placeOf(program) : undefined
  return path !== undefined && existsSync(path) ? path : undefined
}

/**
 * The path of a program that is there, or may be built now (`ISTHMUS_GO=build`, since that takes minutes); or what to say
 * of tests that need it. `script` is the npm script that builds it.
 */
export function goProgram(program: GoProgram, script: string): { path: string } | { missing: string } {
  const path = process.env.ISTHMUS_GO === 'build' ? buildGo(program) : builtGo(program)
  if (path !== undefined) return { path }
  return { missing: `${program.module} is not built: npm run ${script} does, and needs Go on the PATH` }
}

/** The path of the built program, made unless the same sources were built before. Throws what `go build` printed. */
export function buildGo(program: GoProgram): string {
  const built = placeOf(program)
  if (existsSync(built)) return built
  mkdirSync(dirname(built), { recursive: true })
  const fresh = `${built}.${process.pid}`
  const ran = goBuild(program, fresh)
  if (ran.status !== 0) {
    rmSync(fresh, { force: true })
    throw new Error(`go build of ${program.module} failed: ${ran.error?.message ?? ran.stderr}`)
  }
  renameSync(fresh, built)
  return built
}

function placeOf(program: GoProgram): string {
  const name = program.name ?? basename(program.package ?? program.module)
  return join(cacheFolder(), 'go', `${name}-${digest(program)}`, name)
}

function goBuild(program: GoProgram, output: string): SpawnSyncReturns<string> {
  const flags = ['-trimpath', `-ldflags=-s -w ${program.ldflags ?? ''}`.trimEnd()]
  return spawnSync('go', ['build', ...flags, '-o', output, program.package ?? '.'], {
    cwd: program.module,
    encoding: 'utf8',
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
  })
}

function digest(program: GoProgram): string {
  const hash = createHash('sha256').update(JSON.stringify(program))
  hash.update(spawnSync('go', ['version'], { encoding: 'utf8' }).stdout ?? '')
  const sources = readdirSync(program.module, { recursive: true, encoding: 'utf8' })
    .filter(file => /[.]go$|(^|[/])go[.](mod|sum)$/.test(file))
    .toSorted()
  for (const file of sources) hash.update(file).update(readFileSync(join(program.module, file)))
  return hash.digest('hex').slice(0, 16)
}
