/** Objects as a kind that can be read shows them: its own, or those that it is computed from. */
import type { KubeObject } from '../../../src/api/meta.ts'
import type { Answer, Ask } from './ask.ts'
import { seen, servedKinds, viewer } from './server.ts'
import { type Frame, type Place, Subject, Watch } from './subject.ts'

type Labels = Readonly<Record<string, string>>

export class Scene {
  readonly subject: Subject
  readonly namespace: string
  /** Where the objects are stored. */
  readonly #stored: Place

  private constructor(subject: Subject, namespace: string, stored: Place) {
    this.subject = subject
    this.namespace = namespace
    this.#stored = stored
  }

  /** An empty namespace; of cluster-scoped kinds the objects of a label, of computed kinds the namespace of the viewer. */
  static async of(subject: Subject): Promise<Scene> {
    if (subject.kind.storage === 'stored') {
      const place = await subject.place()
      return new Scene(subject, place.namespace, place)
    }
    const stored = new Subject(seen.kind, subject.ask, subject.client)
    const scene = new Scene(subject, viewer.namespace, await stored.place())
    for (const item of await scene.items()) await scene.#forget(item)
    return scene
  }

  /** Deletes what a computed object shows. */
  async #forget(item: KubeObject & { readonly object?: KubeObject }): Promise<void> {
    const kind = servedKinds.find(one => one.kind === item.object?.kind)
    if (kind === undefined || item.object === undefined) throw new Error(`not computed: ${item.kind}`)
    const { namespace, name } = item.object.metadata
    const source = new Subject(kind, this.subject.ask, this.subject.client)
    await source.ask(`${source.collection(namespace)}/${name}`, { method: 'DELETE' })
  }

  /** The same in a namespace whose name goes on like this; where there are no namespaces, this one. */
  async beside(suffix: string): Promise<Scene> {
    if (!(this.isStored && this.subject.isNamespaced)) return this
    const place = await this.#stored.beside(suffix)
    return new Scene(this.subject, place.namespace, place)
  }

  get collection(): string {
    return this.subject.collection(this.namespace)
  }

  get isStored(): boolean {
    return this.subject.kind.storage === 'stored'
  }

  /** What a removal looks like to watchers: some objects do not go at once. */
  get removal(): readonly string[] {
    return this.subject.kind.finalize === undefined ? ['DELETED'] : ['MODIFIED', 'DELETED']
  }

  /** The parameter that selects these labels among the objects of this scene; empty when that is all there is. */
  select(labels = ''): string {
    const own = this.isStored && !this.subject.isNamespaced ? Object.entries(this.#stored.label) : []
    const terms = [...own.map(([key, value]) => `${key}=${value}`), ...(labels === '' ? [] : [labels])]
    return terms.length === 0 ? '' : `labelSelector=${encodeURIComponent(terms.join(','))}`
  }

  async make(labels: Labels = {}): Promise<KubeObject> {
    const sample = this.#stored.sample({ labels })
    const made = await this.#stored.create(this.isStored ? sample : seen.shown(sample))
    if (made.code !== 201) throw new Error(`not created: ${made.text}`)
    return this.shown(made.body)
  }

  async makeMany(count: number): Promise<readonly KubeObject[]> {
    const made: KubeObject[] = []
    for (let i = 0; i < count; i += 1) made.push(await this.make())
    return made
  }

  /** The object as this kind shows it. */
  async shown(object: KubeObject): Promise<KubeObject> {
    const answer = await this.subject.ask(this.item(object))
    if (answer.code !== 200) throw new Error(`not shown: ${answer.text}`)
    return answer.body
  }

  item(object: KubeObject): string {
    return `${this.collection}/${object.metadata.name}`
  }

  /** Sets labels of what is stored; null takes one away. */
  change(object: KubeObject, labels: Readonly<Record<string, string | null>>): Promise<KubeObject> {
    return this.#patch(object, { labels })
  }

  /** Sets annotations of what is stored. */
  annotate(object: KubeObject, annotations: Labels): Promise<KubeObject> {
    return this.#patch(object, { annotations })
  }

  async #patch(object: KubeObject, metadata: Readonly<Record<string, unknown>>): Promise<KubeObject> {
    const changed = await this.#stored.patch(object, { metadata })
    if (changed.code !== 200) throw new Error(`not changed: ${changed.text}`)
    return this.shown(object)
  }

  /** Until nothing is left of it. */
  async remove(object: KubeObject): Promise<void> {
    const deleted = await this.#stored.delete(object)
    if (deleted.code !== 200) throw new Error(`not deleted: ${deleted.text}`)
    if (this.subject.kind.finalize === undefined) return
    const { body } = await this.#stored.get(object)
    const done = await this.#stored.put({ ...body, spec: {} }, { subresource: 'finalize' })
    if (done.code !== 200) throw new Error(`not finalized: ${done.text}`)
  }

  list(query = '', ask: Ask = {}): Promise<Answer> {
    return this.subject.ask(`${this.collection}?${query}`, ask)
  }

  /** The objects of this scene, in the order of the server. */
  async items(): Promise<readonly KubeObject[]> {
    return (await this.list(this.select())).body.items
  }

  /** Where the server stands now. */
  async revision(): Promise<string> {
    return (await this.list('limit=1')).body.metadata.resourceVersion
  }

  /** Watches this scene, or of it what has these labels. */
  async watch(query: string, { labels = '', headers = {}, collection = this.collection }: Watching = {}) {
    const all = ['watch=1', this.select(labels), query].filter(part => part !== '').join('&')
    return new Watch(await this.subject.open(`${collection}?${all}`, headers))
  }

  /** The events of a watch up to now: those that come before one of an object that is made last. */
  async eventsOf(watch: Watch, labels: Labels = {}): Promise<readonly Frame[]> {
    return eventsBefore(watch, await this.make(labels))
  }
}

type Watching = {
  readonly labels?: string
  readonly headers?: Labels
  readonly collection?: string
}

/** The events of a watch before those of an object; then it is closed. */
export async function eventsBefore(watch: Watch, last: KubeObject): Promise<readonly Frame[]> {
  const events: Frame[] = []
  for (;;) {
    const frame = await watch.next()
    if (frame === undefined) throw new Error(`the watch ended behind ${events.map(summaryOf).join(', ')}`)
    if (frame.object.metadata?.name === last.metadata.name) break
    events.push(frame)
  }
  watch.close()
  return events
}

/** `ADDED web`. */
export function summaryOf({ type, object }: Frame): string {
  return `${type} ${object.metadata.name}`
}
