import { median } from '../quantile.ts'
import { comparisons, type Figures, type Ratio, ratioOf } from './figures.ts'
import type { TargetName } from './targets.ts'

export type Memory = ReadonlyMap<TargetName, number>

const columns = [
  'load',
  'Isthmus',
  'CRDs',
  'ratio',
  'bare Node',
  'share',
  'Isthmus behind aggregator',
  'bare Node there',
  'share',
  'ratio to CRDs',
]

/** The Markdown table: medians of the rounds; of ratios also the least and the greatest. */
export function tableOf(all: readonly Figures[], memory: Memory): string {
  const rows = [...all.map(rowOf), memoryRow(memory)]
  const lines = [columns, columns.map((_, index) => (index === 0 ? '---' : '---:')), ...rows]
  return `${lines.map(cells => `| ${cells.join(' | ')} |`).join('\n')}\n`
}

function rowOf(figures: Figures): readonly string[] {
  const rate = (name: TargetName): string => {
    const values = figures.perSecond.get(name)
    return values === undefined ? '' : rateText(median(values))
  }
  const [toCrds, toBare, behind, behindToCrds] = comparisons.map(one => ratioText(ratioOf(figures, one)))
  return [
    figures.of.what,
    rate('ours'),
    rate('crds'),
    toCrds ?? '',
    rate('bare'),
    toBare ?? '',
    rate('ours aggregated'),
    rate('bare aggregated'),
    behind ?? '',
    behindToCrds ?? '',
  ]
}

function memoryRow(memory: Memory): readonly string[] {
  const of = (name: TargetName): string => {
    const megabytes = memory.get(name)
    return megabytes === undefined ? '' : `${Math.round(megabytes)}`
  }
  const ratio = (memory.get('ours') ?? Number.NaN) / (memory.get('crds') ?? Number.NaN)
  const share = Number.isNaN(ratio) ? '' : `1/${(1 / ratio).toFixed(1)}`
  return [
    'memory after the load, MB',
    of('ours'),
    of('crds'),
    share,
    of('bare'),
    '',
    of('ours aggregated'),
    '',
    '',
    '',
  ]
}

function ratioText(ratio: Ratio | undefined): string {
  if (ratio === undefined) return ''
  return `${short(ratio.median)} (${short(ratio.least)}–${short(ratio.most)})`
}

function short(value: number): string {
  return value >= 10 ? value.toFixed(0) : value.toFixed(value >= 3 ? 1 : 2)
}

function rateText(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1)
}
