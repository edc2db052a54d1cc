// OCI images from folders, without a registry and without a builder: a tar file that containerd and others import.
import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

/** Runs a program to its end and resolves with what it printed. */
export type RunProgram = (argv: readonly string[]) => Promise<string>

export type Image = {
  readonly names: readonly string[]
  /** The folder that becomes its root. */
  readonly root: string
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly user?: string
  /** `NAME=value`, besides the search path. */
  readonly environment?: readonly string[]
}

type Descriptor = { readonly mediaType: string; readonly digest: string; readonly size: number }

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }
const searchPath = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
// The same folder gives the same image: no times, root owns everything, and nobody else may write.
const reproducible = [
  '--sort=name',
  '--mode=a+rX,go-w',
  '--mtime=@0',
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--format=gnu',
]

/** Writes `archive`; `folder` is for what is made on the way. */
export async function writeImageArchive(options: {
  readonly archive: string
  readonly folder: string
  readonly images: readonly Image[]
  readonly run: RunProgram
}): Promise<void> {
  const { archive, folder, images, run } = options
  const blobs = join(folder, 'blobs', 'sha256')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(blobs, { recursive: true })
  const layers = new Map<string, Descriptor>()
  const manifests: unknown[] = []
  const forDocker: unknown[] = []
  for (const image of images) {
    const layer = layers.get(image.root) ?? (await writeLayer(blobs, image.root, run))
    layers.set(image.root, layer)
    const { config, manifest } = writeManifest(blobs, image, layer)
    for (const name of image.names) {
      manifests.push({ ...manifest, annotations: { 'io.containerd.image.name': name } })
    }
    forDocker.push({ Config: pathOf(config), RepoTags: image.names, Layers: [pathOf(layer)] })
  }
  writeFileSync(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  writeFileSync(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests }))
  // What `docker load` reads before release 25.
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(forDocker))
  const entries = ['oci-layout', 'index.json', 'manifest.json', 'blobs']
  await run(['tar', ...reproducible, '-cf', archive, '-C', folder, ...entries])
}

function pathOf({ digest }: Descriptor): string {
  return `blobs/${digest.replace(':', '/')}`
}

async function writeLayer(blobs: string, root: string, run: RunProgram): Promise<Descriptor> {
  const tar = join(blobs, 'layer')
  await run(['tar', ...reproducible, '-cf', tar, '-C', root, '.'])
  const hash = createHash('sha256')
  await pipeline(createReadStream(tar), hash)
  const hex = hash.digest('hex')
  const { size } = statSync(tar)
  renameSync(tar, join(blobs, hex))
  return { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest: `sha256:${hex}`, size }
}

type Written = { readonly config: Descriptor; readonly manifest: Descriptor }

function writeManifest(blobs: string, image: Image, layer: Descriptor): Written {
  const settings = {
    Env: [searchPath, ...(image.environment ?? [])],
    WorkingDir: '/',
    ...(image.entrypoint === undefined ? {} : { Entrypoint: image.entrypoint }),
    ...(image.command === undefined ? {} : { Cmd: image.command }),
    ...(image.user === undefined ? {} : { User: image.user }),
  }
  const config = writeJson(blobs, 'config', {
    architecture: architectures[process.arch] ?? process.arch,
    os: 'linux',
    config: settings,
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  })
  return { config, manifest: writeJson(blobs, 'manifest', { schemaVersion: 2, config, layers: [layer] }) }
}

function writeJson(blobs: string, kind: 'config' | 'manifest', content: object): Descriptor {
  const mediaType = `application/vnd.oci.image.${kind}.v1+json`
  const text = JSON.stringify({ mediaType, ...content })
  const hex = createHash('sha256').update(text).digest('hex')
  writeFileSync(join(blobs, hex), text)
  return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) }
}
