// What the metrics tell of changes under way.
import type { Metrics } from '../../src/kernel/metrics.ts'

/** `export import one` → `2 × 1.5`: how many and how long together, in seconds; `fault …` → how many. */
export async function propagationIn(
  metrics: Pick<Metrics, 'text'>,
): Promise<Readonly<Record<string, string>>> {
  const text = await metrics.text()
  const sums = new Map<string, string>()
  const found: Record<string, string> = {}
  const sample =
    /^isthmus_propagation_(duration_seconds_sum|duration_seconds_count|clock_faults_total)\{(.*)\} (\S+)$/gm
  for (const [, name, labels = '', value = ''] of text.matchAll(sample)) {
    const key = [...labels.matchAll(/="([^"]*)"/g)].map(([, label]) => label).join(' ')
    if (name === 'clock_faults_total') found[`fault ${key}`] = value
    else if (name === 'duration_seconds_sum') sums.set(key, value)
    else found[key] = value
  }
  for (const [key, sum] of sums) found[key] = `${found[key]} × ${sum}`
  return found
}
