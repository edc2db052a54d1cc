/**
 * A disk as a trace of system calls tells of it, to see what a loss of power would leave. Model: a sync of a file makes
 * durable what had been written to it when the sync began, and every creation, renaming and removal of files before that,
 * as journals of ext4, xfs and btrfs do.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Traced } from './trace.ts'

export type Change =
  | { readonly what: 'write'; readonly file: string; readonly data: Buffer }
  /** All of the file, within one sector: after a loss of power it is there or is not. */
  | { readonly what: 'overwrite'; readonly file: string; readonly data: Buffer }
  | { readonly what: 'create'; readonly file: string; readonly isEmptied: boolean }
  | { readonly what: 'rename'; readonly file: string; readonly to: string }
  | { readonly what: 'remove'; readonly file: string }
  /** `begun` counts the changes that it makes durable. */
  | { readonly what: 'sync'; readonly file: string; readonly begun: number }
  | { readonly what: 'answer'; readonly line: string }

/** What happened to the files of a directory and on standard output, in order. */
export function changesIn(directory: string, events: readonly Traced[]): readonly Change[] {
  const changes: Change[] = []
  const syncs = new Map<string, number>()
  for (const { at, call } of events) {
    const thread = call.slice(0, call.indexOf(' '))
    const sync = /\bf(?:data)?sync\(\d+<([^>]*)>/.exec(call)
    if (at === 'begin') {
      if (sync !== null) syncs.set(thread, changes.length)
      continue
    }
    const change = sync === null ? changeOf(call) : syncOf(sync, syncs.get(thread) ?? 0)
    if (change !== undefined && isOf(directory, change)) changes.push(change)
  }
  return changes
}

function isOf(directory: string, change: Change): boolean {
  return change.what === 'answer' || change.file.startsWith(directory)
}

function syncOf([, file = '']: RegExpExecArray, begun: number): Change {
  return { what: 'sync', file: text(file), begun }
}

function changeOf(call: string): Change | undefined {
  const written = /\bwrite\((\d+)<([^>]*)>, "([^"]*)"(?:\.\.\.)?, \d+\) += (\d+)$/.exec(call)
  if (written !== null) return writeOf(written)
  const placed = /\bpwrite64\((\d+)<([^>]*)>, "([^"]*)", \d+, 0\) += (\d+)$/.exec(call)
  if (placed !== null) return { what: 'overwrite', file: text(placed[2]), data: writtenIn(placed) }
  const opened = /\bopenat\(.*?, "([^"]*)", ([A-Z_|]+)/.exec(call)
  if (opened?.[2]?.includes('O_CREAT') === true) {
    return { what: 'create', file: text(opened[1]), isEmptied: opened[2].includes('O_TRUNC') }
  }
  const renamed = /\brename\("([^"]*)", "([^"]*)"\)/.exec(call)
  if (renamed !== null) return { what: 'rename', file: text(renamed[1]), to: text(renamed[2]) }
  const removed = /\bunlink\("([^"]*)"\)/.exec(call)
  return removed === null ? undefined : { what: 'remove', file: text(removed[1]) }
}

function writeOf(call: RegExpExecArray): Change {
  const [, descriptor, file] = call
  const data = writtenIn(call)
  if (descriptor === '1') return { what: 'answer', line: data.toString().trimEnd() }
  return { what: 'write', file: text(file), data }
}

function writtenIn([, , , shown, length]: RegExpExecArray): Buffer {
  const data = bytes(shown)
  if (data.length === Number(length)) return data
  throw new Error(`the trace shows ${data.length} of ${length} bytes`)
}

/** `strace -xx` writes every byte of a string as `\x61`. */
function bytes(shown = ''): Buffer {
  return Buffer.from(shown.replaceAll('\\x', ''), 'hex')
}

function text(shown = ''): string {
  return shown.startsWith('\\x') ? bytes(shown).toString() : shown
}

export type LostPower = {
  readonly answers: readonly string[]
  /** How many syncs had ended. */
  readonly syncs: number
  /** Writes what is left of the files into a directory. */
  leave(directory: string): void
}

export type Kept = {
  /** Of the changes of names that were not synced, the share that was. */
  readonly names: number
  /** Of the bytes of each file that were not synced, the share that was. */
  readonly bytes: number
}

/** The power is lost after the first `count` changes. */
export function losePower(changes: readonly Change[], count: number, kept: Kept): LostPower {
  const happened = changes.slice(0, count)
  const durable = Math.max(0, ...happened.map(change => (change.what === 'sync' ? change.begun : 0)))
  const durableNames = durable + Math.floor((count - durable) * kept.names)
  const files = new Files()
  for (const [at, change] of happened.entries()) files.apply(change, at, at < durableNames)
  return {
    answers: happened.flatMap(change => (change.what === 'answer' ? [change.line] : [])),
    syncs: happened.filter(change => change.what === 'sync').length,
    leave: directory => files.leave(directory, kept.bytes),
  }
}

type Content = {
  readonly data: Buffer[]
  bytes: number
  synced: number
  /** How long the file was after which change. */
  readonly lengths: { readonly after: number; readonly bytes: number }[]
  /** What was written over all of it after which change. */
  readonly over: { readonly after: number; readonly data: Buffer }[]
  /** How many of those are durable. */
  syncedOver: number
}

function newContent(): Content {
  return { data: [], bytes: 0, synced: 0, lengths: [], over: [], syncedOver: 0 }
}

class Files {
  /** What processes see, and what names lead to after the loss. */
  readonly #live = new Map<string, Content>()
  readonly #named = new Map<string, Content>()

  apply(change: Change, at: number, isNameDurable: boolean): void {
    if (change.what === 'write') this.#write(change.file, change.data, at)
    else if (change.what === 'overwrite')
      this.#writing(change.file).over.push({ after: at, data: change.data })
    else if (change.what === 'sync') this.#sync(change.file, change.begun)
    else if (change.what !== 'answer') {
      const content = this.#rename(change)
      if (!isNameDurable) return
      if (change.what !== 'create') this.#named.delete(change.file)
      const name = change.what === 'rename' ? change.to : change.file
      if (content !== undefined) this.#named.set(name, content)
    }
  }

  leave(directory: string, keptBytes: number): void {
    mkdirSync(directory, { recursive: true })
    for (const [file, { data, bytes: all, synced, over, syncedOver }] of this.#named) {
      const length = synced + Math.floor((all - synced) * keptBytes)
      const last = over[syncedOver - 1 + Math.floor((over.length - syncedOver) * keptBytes)]
      const left = last?.data ?? Buffer.concat(data).subarray(0, length)
      writeFileSync(join(directory, basename(file)), left)
    }
  }

  #write(file: string, data: Buffer, at: number): void {
    const content = this.#writing(file)
    content.data.push(data)
    content.bytes += data.length
    content.lengths.push({ after: at, bytes: content.bytes })
  }

  #writing(file: string): Content {
    const content = this.#live.get(file)
    if (content === undefined) throw new Error(`${file} was written and never made`)
    return content
  }

  #sync(file: string, begun: number): void {
    const content = this.#live.get(file)
    if (content === undefined) return
    const length = content.lengths.findLast(({ after }) => after < begun)?.bytes ?? 0
    content.synced = Math.max(content.synced, length)
    const over = content.over.findLastIndex(({ after }) => after < begun) + 1
    content.syncedOver = Math.max(content.syncedOver, over)
  }

  /** What the new name leads to, if there is one. */
  #rename(change: Extract<Change, { readonly what: 'create' | 'rename' | 'remove' }>): Content | undefined {
    const known = this.#live.get(change.file)
    if (change.what === 'create') {
      const isKept = known !== undefined && !change.isEmptied
      const content = isKept ? known : newContent()
      this.#live.set(change.file, content)
      return content
    }
    this.#live.delete(change.file)
    if (change.what === 'rename' && known !== undefined) this.#live.set(change.to, known)
    return change.what === 'rename' ? known : undefined
  }
}
