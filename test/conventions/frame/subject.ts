import { isDeepStrictEqual } from 'node:util'
import { type AnyKind, apiVersionOf } from '../../../src/api/kind.ts'
import type { KubeObject } from '../../../src/api/meta.ts'
import type { ApiClient, OpenAnswer } from '../../support/api-client.ts'
import type { Answer, Ask } from './ask.ts'
import { changed, changesOf, statusChangesOf, statusesOf } from './changes.ts'
import { nthSample } from './samples.ts'
import { seen, viewer } from './server.ts'

export const json = 'application/json'
export const mergePatch = 'application/merge-patch+json'
export const jsonPatch = 'application/json-patch+json'
export const strategicPatch = 'application/strategic-merge-patch+json'
export const applyPatch = 'application/apply-patch+yaml'

/** Numbers names and namespaces, so that no test meets another one's objects. */
let taken = 0

/** A kind under test, on the server of the file. */
export class Subject {
  readonly kind: AnyKind
  readonly ask: (path: string, ask?: Ask) => Promise<Answer>
  readonly client: () => ApiClient

  constructor(kind: AnyKind, ask: Subject['ask'], client: () => ApiClient) {
    this.kind = kind
    this.ask = ask
    this.client = client
  }

  get isNamespaced(): boolean {
    return this.kind.scope === 'Namespaced'
  }

  /** `/apis/{group}/{version}`, by default of the preferred version. */
  root(version?: string): string {
    return `/${this.kind.group === '' ? 'api' : 'apis'}/${apiVersionOf(this.kind, version)}`
  }

  /** Of all namespaces, or of one. */
  collection(namespace = '', version?: string): string {
    const within = this.isNamespaced && namespace !== '' ? `/namespaces/${namespace}` : ''
    return `${this.root(version)}${within}/${this.kind.plural}`
  }

  /** How errors name it. */
  get resource(): string {
    const { group, plural } = this.kind
    return group === '' ? plural : `${plural}.${group}`
  }

  open(path: string, headers: Readonly<Record<string, string>> = {}): Promise<OpenAnswer> {
    return this.client().open(path, { headers: { 'user-agent': 'tester/1.0', ...headers } })
  }

  /** Makes a namespace and answers its name. */
  async namespace(name: string): Promise<string> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    const made = await this.ask('/api/v1/namespaces', { method: 'POST', body })
    if (made.code !== 201) throw new Error(`no namespace: ${made.text}`)
    return name
  }

  /** A namespace with nothing in it; cluster-scoped kinds are told apart by their label. */
  async place(): Promise<Place> {
    taken += 1
    if (!this.isNamespaced) return new Place(this, '', taken)
    if (this.kind.storage === 'view') return new Place(this, viewer.namespace, taken)
    return new Place(this, await this.namespace(`place-${taken}`), taken)
  }
}

/** All but metadata and status. */
export function content({ metadata: _metadata, status: _status, ...rest }: KubeObject): unknown {
  return rest
}

/** Where the objects of one test are. */
export class Place {
  readonly subject: Subject
  readonly namespace: string
  readonly label: Readonly<Record<string, string>>
  /** Selects the objects of this place, as a parameter of a query; a view shows what others have stored as well. */
  readonly selector: string

  constructor(subject: Subject, namespace: string, number: number) {
    this.subject = subject
    this.namespace = namespace
    this.label = { 'conventions.test/place': `p${number}` }
    this.selector = subject.kind.storage === 'view' ? '' : `labelSelector=conventions.test/place%3Dp${number}`
  }

  /** The same in a new namespace whose name goes on like this. */
  async beside(suffix: string): Promise<Place> {
    taken += 1
    return new Place(this.subject, await this.subject.namespace(this.namespace + suffix), taken)
  }

  get collection(): string {
    return this.subject.collection(this.namespace)
  }

  /** The path of an object, or of a subresource of it. */
  item(object: { readonly metadata: { readonly name: string } }, subresource = ''): string {
    const item = `${this.collection}/${object.metadata.name}`
    return subresource === '' ? item : `${item}/${subresource}`
  }

  /** A valid object that is not there yet, with the label of this place. */
  sample(metadata: Readonly<Record<string, unknown>> = {}): KubeObject {
    taken += 1
    const sample = nthSample(this.subject.kind, taken, this.namespace)
    const labels = { ...this.label, ...(metadata.labels as object | undefined) }
    return { ...sample, metadata: { ...sample.metadata, ...metadata, labels } }
  }

  create(body: unknown, query = ''): Promise<Answer> {
    return this.subject.ask(this.collection + query, { method: 'POST', body })
  }

  /** Creates a sample and answers it as the server has it. */
  async make(metadata: Readonly<Record<string, unknown>> = {}): Promise<KubeObject> {
    const made = await this.create(this.sample(metadata))
    if (made.code !== 201) throw new Error(`not created: ${made.text}`)
    return made.body
  }

  /** An object that can be read: a new one, or what a view makes of one. */
  async some(): Promise<KubeObject> {
    if (this.subject.kind.storage !== 'view') return this.make()
    const source = new Subject(seen.kind, this.subject.ask, this.subject.client)
    const place = await source.place()
    const made = await place.create(seen.shown(place.sample()))
    if (made.code !== 201) throw new Error(`not created: ${made.text}`)
    return (await this.get(made.body)).body
  }

  /**
   * The object with another content that its kind allows; undefined for a kind that has nothing that could be changed
   * outside of metadata and status. The server is asked in a dry run.
   */
  async change(object: KubeObject): Promise<KubeObject | undefined> {
    for (const change of changesOf(this.subject.kind, object)) {
      const other = changed(object, change)
      const tried = await this.put(other, { query: '?dryRun=All' })
      if (tried.code === 200 && !isDeepStrictEqual(content(tried.body), content(object))) return other
    }
    return undefined
  }

  /** The object with another status that its kind allows. */
  async withStatus(object: KubeObject): Promise<KubeObject> {
    const { kind } = this.subject
    const candidates = [
      ...statusesOf(kind).map(status => ({ ...object, status })),
      ...statusChangesOf(kind, object).map(change => changed(object, change)),
    ]
    for (const other of candidates) {
      const tried = await this.put(other, { subresource: 'status', query: '?dryRun=All' })
      if (tried.code === 200 && !isDeepStrictEqual(tried.body.status, object.status)) return other
    }
    throw new Error(`no status is allowed for ${kind.kind}`)
  }

  get(object: KubeObject, subresource = ''): Promise<Answer> {
    return this.subject.ask(this.item(object, subresource))
  }

  put(
    object: KubeObject,
    to: { readonly query?: string; readonly subresource?: string } = {},
  ): Promise<Answer> {
    const path = this.item(object, to.subresource) + (to.query ?? '')
    return this.subject.ask(path, { method: 'PUT', body: object })
  }

  patch(
    object: { readonly metadata: { readonly name: string } },
    body: unknown,
    how: { readonly type?: string; readonly query?: string; readonly subresource?: string } = {},
  ): Promise<Answer> {
    const path = this.item(object, how.subresource) + (how.query ?? '')
    return this.subject.ask(path, { method: 'PATCH', body, type: how.type ?? mergePatch })
  }

  apply(object: KubeObject, manager: string, query = ''): Promise<Answer> {
    return this.patch(object, object, { type: applyPatch, query: `?fieldManager=${manager}${query}` })
  }

  delete(
    object: KubeObject,
    ask: { readonly query?: string; readonly body?: unknown } = {},
  ): Promise<Answer> {
    const { query = '', body } = ask
    return this.subject.ask(this.item(object) + query, {
      method: 'DELETE',
      ...(body === undefined ? {} : { body }),
    })
  }

  /** The objects of this place, in the order of the server. */
  async list(): Promise<readonly KubeObject[]> {
    return (await this.subject.ask(`${this.collection}?${this.selector}`)).body.items
  }

  /** A watch of this place from a version on. */
  async watch(resourceVersion: string, query = ''): Promise<Watch> {
    const path = `${this.collection}?watch=1&${this.selector}&resourceVersion=${resourceVersion}${query}`
    return new Watch(await this.subject.open(path))
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape
export type Frame = { readonly type: string; readonly object: any }

export class Watch {
  readonly stream: OpenAnswer

  constructor(stream: OpenAnswer) {
    this.stream = stream
  }

  /** The next event; undefined at the end of the stream. */
  async next(): Promise<Frame | undefined> {
    const line = await this.stream.line()
    return line === undefined ? undefined : JSON.parse(line)
  }

  close(): void {
    this.stream.cancel()
  }
}
