// A root filesystem for pods, from programs of this machine with the libraries that they need.
import { copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { copyLibraries } from '../../../hack/image/libraries.ts'
import { run } from './command.ts'

/** Where Debian keeps programs that the PATH of a user may lack. */
const systemFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin']

export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...systemFolders]
  return folders.map(folder => join(folder, name)).find(existsSync)
}

/** Programs that pods of tests call, by their names there and, where it differs, here. */
const programs: Readonly<Record<string, string>> = {
  bash: 'bash',
  curl: 'curl',
  dig: 'dig',
  host: 'host',
  ip: 'ip',
  nc: 'nc.openbsd',
  nslookup: 'nslookup',
  socat: 'socat',
}

/** Programs of this machine that are missing for it. */
export function missingPrograms(): readonly string[] {
  return ['busybox', ...Object.values(programs)].filter(name => findProgram(name) === undefined)
}

/** Everything of busybox, and programs of their own where busybox has only a smaller one of the name. */
export async function makeRootFilesystem(lab: string, root: string): Promise<void> {
  for (const folder of ['bin', 'etc', 'proc', 'sys', 'dev', 'root', 'tmp', 'var/run', 'usr/bin']) {
    mkdirSync(join(root, folder), { recursive: true })
  }
  copyFileSync(findProgram('busybox') ?? '', join(root, 'bin/busybox'))
  const applets = (await run([join(root, 'bin/busybox'), '--list'], { lab })).split('\n').filter(Boolean)
  for (const applet of applets) {
    if (applet !== 'busybox' && applet !== 'sh' && !(applet in programs))
      link('busybox', join(root, 'bin', applet))
  }
  for (const [name, here] of Object.entries(programs))
    await copyProgram(lab, root, name, findProgram(here) ?? '')
  // The shell of busybox calls its own applets before programs of the same name.
  link('bash', join(root, 'bin/sh'))
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n')
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\n')
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files dns\n')
}

async function copyProgram(lab: string, root: string, name: string, path: string): Promise<void> {
  copyFileSync(realpathSync(path), join(root, 'bin', name))
  link(join('../../bin', name), join(root, 'usr/bin', name))
  await copyLibraries(path, root, argv => run(argv, { lab }))
}

function link(target: string, path: string): void {
  if (basename(path) !== '' && !existsSync(path)) symlinkSync(target, path)
}
