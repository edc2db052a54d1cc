// Makes a fresh clone ready: installs what package-lock.json says when it is not installed yet, and nothing otherwise.
// Plain JavaScript for any Node >= 18, because it runs before the project's own Node is there.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const stamp = join(root, 'node_modules', '.isthmus-installed')
const wanted = createHash('sha256')
  .update(readFileSync(join(root, 'package-lock.json')))
  .update(`${process.platform} ${process.arch}`)
  .digest('hex')

function installed() {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted
}

function fail(sentence) {
  process.stderr.write(`isthmus: ${sentence}\n`)
  process.exit(1)
}

if (!installed()) {
  process.stderr.write('isthmus: installing what package-lock.json names (once)\n')
  const npm = process.env.npm_execpath
  const ran = npm
    ? spawnSync(process.execPath, [npm, 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: root,
        stdio: ['ignore', 2, 2],
      })
    : spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
        cwd: root,
        stdio: ['ignore', 2, 2],
        shell: true,
      })
  if (ran.error || ran.status !== 0) fail('npm ci did not succeed; the lines above say why')
  writeFileSync(stamp, wanted)
}

const local = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node')
if (!existsSync(local) && Number(process.versions.node.split('.')[0]) < 26) {
  fail(
    `Node 26 or newer is needed and npm has no build of it for ${process.platform}-${process.arch}; ` +
      `this is Node ${process.versions.node}: install Node 26 and try again`,
  )
}
