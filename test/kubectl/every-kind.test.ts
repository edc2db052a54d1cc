// The commands of kubectl on every kind that clients may write, against members and the hub of a real fleet.
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnyKind, apiVersionOf } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { eventually } from '../support/eventually.ts'
import { type Fleet, startFleet, temporaryFolder } from '../support/fleet.ts'
import { Kubectl, type KubectlBinary, kubectlBinaries } from '../support/kubectl.ts'
import { namespace, objectsOf } from '../support/written-objects.ts'

/** The hub takes back what nobody exports, so nobody else can write these. */
const contested = ['clustersetservices']
const written = kinds.filter(
  ({ storage = 'stored', plural }) => storage === 'stored' && !contested.includes(plural),
)
const versions = written.flatMap(kind => kind.versions.map(({ name }) => ({ kind, version: name })))
const cases = versions.map(each => ({ ...each, title: titleOf(each.kind, each.version) }))

/** The first of those that kubectl treats alike. */
const oneOfEachMake = [...Map.groupBy(cases, ({ kind }) => makeOf(kind)).values()].flatMap(
  ([first]) => first ?? [],
)

/** All kinds with the oldest and the newest; of the releases between, what they do with each make of kind. */
const binaries = kubectlBinaries().map((binary, at, { length }) => ({
  ...binary,
  cases: at === 0 || at === length - 1 ? cases : oneOfEachMake,
}))
const folder = temporaryFolder()
let fleet: Fleet | undefined

beforeAll(async () => {
  if (binaries.length > 0) fleet = await startFleet({ home: join(folder.path, 'home') })
})

afterAll(async () => {
  await fleet?.stop()
  folder.dispose()
})

describe.each(binaries.length > 0 ? binaries : [{ name: 'kubectl', path: '', cases }])('$name', binary => {
  beforeAll(async () => {
    for (const context of ['east', 'hub'])
      await kubectlFor(binary, context)?.run(['create', 'namespace', namespace])
  })

  afterAll(async () => {
    const deletion = ['delete', 'namespace', namespace, '--timeout=60s']
    for (const context of ['east', 'hub']) await kubectlFor(binary, context)?.run(deletion)
  }, 150_000)

  it.for(binary.cases)('works with $title', { timeout: 120_000 }, async ({ kind, version }, { skip }) => {
    const kubectl = kubectlFor(binary, kind.servers.includes('hub') ? 'hub' : 'east')
    if (kubectl === undefined)
      return skip('no kubectl: npm run test:kubectl builds some, KUBECTLS names others')
    const session = new Session(kubectl, kind, version)
    await session.creates()
    await session.shows()
    await session.applies()
    await session.appliesOnServer()
    await session.patches()
    await session.edits()
    await session.refusesToScale()
    await session.waitsAndWatches()
    await session.deletes()
  })
})

function kubectlFor(binary: KubectlBinary, context: string): Kubectl | undefined {
  if (fleet === undefined) return undefined
  const cacheDir = join(folder.path, `cache-${binary.name.replaceAll(/\W/g, '_')}-${context}`)
  return new Kubectl({ binary, kubeconfig: fleet.kubeconfig, context, cacheDir })
}

function makeOf({ group, scope, servers, status, strategicMergePatch }: AnyKind): string {
  const hasDots = group.includes('.')
  return [hasDots, scope, servers.includes('hub'), status !== undefined, strategicMergePatch].join()
}

function titleOf(kind: AnyKind, version: string): string {
  return `${kind.plural} of ${apiVersionOf(kind, version)}`
}

const team = 'kubectl.example.com/team'

/** One object of a kind, from its creation to its end. */
class Session {
  readonly #kubectl: Kubectl
  readonly #kind: AnyKind
  readonly #object: KubeObject
  /** How kubectl names it: `resource.version.group name -n namespace`. */
  readonly #at: readonly string[]
  readonly #resource: string

  constructor(kubectl: Kubectl, kind: AnyKind, version: string) {
    this.#kubectl = kubectl
    this.#kind = kind
    const [object] = objectsOf(kind, version, 1)
    if (object === undefined) throw new Error(`no object of ${kind.kind}`)
    // The status is not for people to write.
    this.#object = { ...object, status: undefined }
    this.#resource = [kind.plural, ...(kind.group === '' ? [] : [version, kind.group])].join('.')
    this.#at = [this.#resource, object.metadata.name, ...this.#inNamespace]
  }

  async creates(): Promise<void> {
    const create = ['create', '--validate=strict', '-f', '-']
    expect(await this.#send([...create, '--dry-run=server'])).toContain('created (server dry run)')
    expect((await this.#kubectl.try(['get', ...this.#at])).stderr).toContain('NotFound')
    expect(await this.#send(create)).toMatch(/ created\n$/)
    const again = await this.#kubectl.try(create, JSON.stringify(this.#object))
    expect(again.stderr).toContain('AlreadyExists')
    const unknown = JSON.stringify({ ...this.#object, nonsense: 1 })
    expect((await this.#kubectl.try(['replace', '--validate=strict', '-f', '-'], unknown)).stderr).toMatch(
      /unknown field "nonsense"/,
    )
  }

  async shows(): Promise<void> {
    const { name } = this.#object.metadata
    const get = ['get', ...this.#at]
    const narrow = await this.#kubectl.run(get)
    const wide = await this.#kubectl.run([...get, '-o', 'wide'])
    expect(wide.split('\n')[0]?.length).toBeGreaterThanOrEqual(narrow.split('\n')[0]?.length ?? 0)
    expect(await this.#kubectl.run([...get, '-o', 'name'])).toMatch(new RegExp(`/${name}\n$`))
    expect(JSON.parse(await this.#kubectl.run([...get, '-o', 'json']))).toMatchObject({
      apiVersion: this.#object.apiVersion,
      kind: this.#kind.kind,
      metadata: { name },
    })
    const yaml = await this.#kubectl.run([...get, '-o', 'yaml'])
    expect(yaml).toContain(`kind: ${this.#kind.kind}\n`)
    expect(yaml).not.toContain('managedFields:')
    const managed = await this.#kubectl.run([...get, '-o', 'yaml', '--show-managed-fields'])
    expect(managed).toContain('manager: kubectl-create')
    const columns = await this.#kubectl.run([...get, '-o', 'custom-columns=N:.metadata.name', '--no-headers'])
    expect(columns.trim()).toBe(name)
    const chosen = [`--field-selector=metadata.name=${name}`, '--chunk-size=1', '-o', 'name']
    const listed = await this.#kubectl.run(['get', this.#resource, ...this.#inNamespace, ...chosen])
    expect(listed.trim().split('\n')).toHaveLength(1)
    expect(await this.#kubectl.run(['describe', ...this.#at])).toMatch(new RegExp(`^Name: +${name}\n`))
    const explained = await this.#kubectl.run([
      'explain',
      this.#kind.plural,
      '--recursive',
      ...this.#inVersion,
    ])
    expect(explained).toMatch(/FIELDS:\n/)
    expect(explained).toMatch(/ metadata/)
  }

  async applies(): Promise<void> {
    expect(await this.#apply('cart')).toMatch(/ configured\n$/)
    expect(await this.#apply('cart')).toMatch(/ unchanged\n$/)
    const diff = ['diff', '-f', '-']
    expect((await this.#kubectl.try(diff, this.#labelled('cart'))).code).toBe(0)
    const differing = await this.#kubectl.try(diff, this.#labelled('shop'))
    expect({ code: differing.code, error: differing.stderr }).toEqual({ code: 1, error: '' })
    expect(differing.stdout).toMatch(/^\+ .*: shop$/m)
    expect(await this.#send(['replace', '-f', '-'])).toMatch(/ replaced\n$/)
    expect(await this.#team()).toBe('')
  }

  async appliesOnServer(): Promise<void> {
    const onServer = ['apply', '--server-side', '-f', '-']
    const first = await this.#kubectl.run([...onServer, '--field-manager=first'], this.#labelled('one'))
    expect(first).toMatch(/ serverside-applied\n$/)
    const second = [...onServer, '--field-manager=second']
    const refused = await this.#kubectl.try(second, this.#labelled('two'))
    expect(refused.stderr).toContain(`conflict with "first": .metadata.labels.${team}`)
    await this.#kubectl.run([...second, '--force-conflicts'], this.#labelled('two'))
    expect(await this.#team()).toBe('two')
  }

  async patches(): Promise<void> {
    const patch = async (type: string, body: unknown, ...more: readonly string[]): Promise<string> =>
      this.#kubectl.run(['patch', ...this.#at, `--type=${type}`, '-p', JSON.stringify(body), ...more])
    await patch('merge', { metadata: { labels: { [team]: 'merged' } } })
    expect(await this.#team()).toBe('merged')
    const path = `/metadata/labels/${team.replace('/', '~1')}`
    await patch('json', [{ op: 'replace', path, value: 'replaced' }])
    expect(await this.#team()).toBe('replaced')
    const strategic = patch('strategic', { metadata: { labels: { [team]: 'strategic' } } })
    if (this.#kind.strategicMergePatch) {
      await strategic
      expect(await this.#team()).toBe('strategic')
    } else await expect(strategic).rejects.toThrow(/merge-patch\+json/)
    const status = ['--subresource=status', '--dry-run=server']
    if (this.#kind.status) expect(await patch('merge', {}, ...status)).toMatch(/ patched/)
    else await expect(patch('merge', {}, ...status)).rejects.toThrow(/NotFound|could not find/)
  }

  async edits(): Promise<void> {
    await this.#kubectl.run(['label', ...this.#at, `${team}=labelled`, '--overwrite'])
    expect(await this.#team()).toBe('labelled')
    await this.#kubectl.run(['annotate', ...this.#at, 'kubectl.example.com/note=hello'])
    const script = join(folder.path, 'editor.sh')
    writeFileSync(script, '#!/bin/sh\nsed -i "s/: labelled$/: edited/" "$1"\n')
    chmodSync(script, 0o755)
    const env = { EDITOR: script, KUBE_EDITOR: script }
    expect(await this.#kubectl.run(['edit', ...this.#at], '', env)).toMatch(/ edited\n$/)
    expect(await this.#team()).toBe('edited')
    const named = ['get', this.#resource, ...this.#inNamespace, '-l', `${team}=edited`, '-o', 'name']
    const names = (await this.#kubectl.run(named)).trim().split('\n')
    expect(names).toContainEqual(expect.stringMatching(new RegExp(`/${this.#object.metadata.name}$`)))
  }

  async refusesToScale(): Promise<void> {
    const scaled = await this.#kubectl.try(['scale', ...this.#at, '--replicas=2'])
    expect(scaled.code).toBe(1)
    expect(scaled.stderr).toContain('Error from server (NotFound)')
  }

  async waitsAndWatches(): Promise<void> {
    const { name } = this.#object.metadata
    await this.#kubectl.run(['wait', ...this.#at, `--for=jsonpath={.metadata.name}=${name}`, '--timeout=20s'])
    const watching = this.#kubectl.start(['get', ...this.#at, '-w', '--output-watch-events'])
    let seen = ''
    watching.stdout?.on('data', chunk => {
      seen += String(chunk)
    })
    try {
      await eventually(() => expect(seen).toMatch(/^ADDED/m))
      await this.#kubectl.run(['annotate', ...this.#at, 'kubectl.example.com/note-'])
      await eventually(() => expect(seen).toMatch(/^MODIFIED/m))
    } finally {
      watching.kill('SIGTERM')
    }
  }

  async deletes(): Promise<void> {
    for (const cascade of ['background', 'foreground', 'orphan']) {
      const deleted = await this.#kubectl.run([
        'delete',
        ...this.#at,
        `--cascade=${cascade}`,
        '--timeout=30s',
      ])
      expect(deleted).toMatch(/" deleted/)
      await this.#kubectl.run(['wait', ...this.#at, '--for=delete', '--timeout=20s'])
      expect((await this.#kubectl.try(['get', ...this.#at])).stderr).toContain('NotFound')
      if (cascade !== 'orphan') await this.#send(['create', '-f', '-'])
    }
  }

  get #inNamespace(): readonly string[] {
    return this.#kind.scope === 'Namespaced' ? ['-n', namespace] : []
  }

  get #inVersion(): readonly string[] {
    return [`--api-version=${this.#object.apiVersion}`]
  }

  #send(args: readonly string[]): Promise<string> {
    return this.#kubectl.run(args, JSON.stringify(this.#object))
  }

  #apply(value: string): Promise<string> {
    return this.#kubectl.run(['apply', '-f', '-'], this.#labelled(value))
  }

  #labelled(value: string): string {
    const metadata = { ...this.#object.metadata, labels: { [team]: value } }
    return JSON.stringify({ ...this.#object, metadata })
  }

  #team(): Promise<string> {
    const path = `jsonpath={.metadata.labels.${team.replaceAll('.', '\\.')}}`
    return this.#kubectl.run(['get', ...this.#at, '-o', path])
  }
}
