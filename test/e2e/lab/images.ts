// The images of a lab's pods.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Image, writeImageArchive } from '../../../hack/image/archive.ts'
import { buildGo } from '../../support/go-module.ts'
import { run } from './command.ts'
import { makeRootFilesystem } from './root-filesystem.ts'

/** What keeps the namespaces of a pod. */
export const sandboxImage = 'isthmus.test/lab/pause:1'
/** busybox, bash, curl, dig and others, and `tools serve PORT`. */
export const podImage = 'isthmus.test/lab/pod:1'
export const dnsImage = 'isthmus.test/lab/coredns:1'

/** What the conformance suite of the MCS API runs, by the names that it asks for. */
const suiteImages: readonly Omit<Image, 'root'>[] = [
  { names: ['docker.io/alpine/socat:1.7.4.4'], entrypoint: ['socat'] },
  { names: ['docker.io/nicolaka/netshoot:v0.15'], command: ['bash'] },
]

/** The small programs of the lab. */
export function toolsProgram(): string {
  return buildGo({ module: 'test/e2e/tools' })
}

export function dnsProgram(): string {
  return buildGo({ module: 'test/peers/coredns' })
}

/** Writes all images into one archive and returns its path. */
export async function writeImages(lab: string): Promise<string> {
  const folder = join(lab, 'images')
  const root = join(folder, 'pod')
  await makeRootFilesystem(lab, root)
  copyFileSync(toolsProgram(), join(root, 'bin/tools'))
  const images: readonly Image[] = [
    {
      names: [sandboxImage],
      root: alone(folder, 'pause', toolsProgram()),
      entrypoint: ['/pause'],
      user: '65535:65535',
    },
    {
      names: [dnsImage],
      root: alone(folder, 'coredns', dnsProgram()),
      entrypoint: ['/coredns'],
    },
    { names: [podImage], root, command: ['sh'] },
    ...suiteImages.map(image => ({ ...image, root })),
  ]
  const archive = join(folder, 'images.tar')
  await writeImageArchive({
    archive,
    folder: join(folder, 'layout'),
    images,
    run: argv => run(argv, { lab }),
  })
  return archive
}

/** A root with one program and nothing else. */
function alone(folder: string, name: string, program: string): string {
  const root = join(folder, name)
  mkdirSync(root, { recursive: true })
  copyFileSync(program, join(root, name))
  return root
}
