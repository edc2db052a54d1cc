// npm run bench [-- NAME…]: figures and ratios, each with its baseline measured in the same run. --gate, as in
// npm run gates, ends with 1 when one of them is not what it has to be. --short shows in less than two minutes that the
// API benchmark runs; --table writes its table into README.md; --busy measures on a machine that others use too.
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { apiThroughput } from '../test/bench/api/api.bench.ts'
import { failureOf, rowText } from '../test/bench/bench.ts'
import { dnsAnswers } from '../test/bench/dns-answers.bench.ts'
import { dnsZone } from '../test/bench/dns-zone.bench.ts'
import { eventLoop } from '../test/bench/event-loop.bench.ts'
import { fleetLoad } from '../test/bench/fleet-load/fleet-load.bench.ts'
import { wideService } from '../test/bench/fleet-load/wide-service.bench.ts'
import { propagation } from '../test/bench/propagation.bench.ts'
import { runScript } from './script.ts'

const benches = [propagation, apiThroughput, eventLoop, dnsAnswers, dnsZone]
/** Only when named: they take minutes, and say how busy the machine was. */
const heavy = [fleetLoad, wideService]
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    gate: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    table: { type: 'boolean', default: false },
    busy: { type: 'boolean', default: false },
  },
})
const { gate, short } = values
const wanted = positionals.map(name => name.toLowerCase())
const [load = 0] = loadavg()

const named = heavy.filter(({ name }) => wanted.includes(name))
const isBusy = load > availableParallelism()

if (isBusy && named.length === 0 && !values.busy && !short) {
  process.stderr.write(
    `bench: the load is ${load.toFixed(1)}, the machine is too busy to measure on; --busy does it anyway\n`,
  )
  process.exit(2)
}
if (isBusy) process.stdout.write(`the load is ${load.toFixed(1)}: others use the machine too\n`)

/** Between the two comments that stand there. */
function writeTable(markdown: string): void {
  const text = readFileSync('README.md', 'utf8')
  const begin = '<!-- npm run bench -- api --table -->\n'
  const end = '<!-- end of the table -->\n'
  const [before, rest] = [text.indexOf(begin), text.indexOf(end)]
  if (before < 0 || rest < before) throw new Error('README.md has no place for the table')
  writeFileSync('README.md', `${text.slice(0, before + begin.length)}${markdown}${text.slice(rest)}`)
}

function isChosen(name: string): boolean {
  return wanted.length === 0 || wanted.some(one => name.toLowerCase().includes(one))
}

async function runAll(): Promise<void> {
  let failures = 0
  for (const bench of [...benches, ...named]) {
    if (!isChosen(bench.name) || (short && bench.hasShortForm !== true)) continue
    process.stdout.write(`${bench.name}\n`)
    for (const row of await bench.run({ short, gate, table })) {
      process.stdout.write(`  ${rowText(row)}\n`)
      if (failureOf(row) !== undefined) failures++
    }
  }
  if (gate && failures > 0) throw new Error(`bench: ${failures} figures are not what they have to be`)
}

function table(markdown: string): void {
  process.stdout.write(markdown)
  if (values.table) writeTable(markdown)
}

await runScript(runAll)
