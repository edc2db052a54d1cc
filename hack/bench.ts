// npm run bench [-- NAME…]: figures and ratios, each with its baseline measured in the same run. npm run gates ends with 1
// when one of them is not what it has to be.
import { availableParallelism, loadavg } from 'node:os'
import { apiThroughput } from '../test/bench/api.bench.ts'
import { failureOf, rowText } from '../test/bench/bench.ts'
import { dnsAnswers } from '../test/bench/dns-answers.bench.ts'
import { dnsZone } from '../test/bench/dns-zone.bench.ts'
import { fleetLoad } from '../test/bench/fleet-load/fleet-load.bench.ts'
import { propagation } from '../test/bench/propagation.bench.ts'

const benches = [propagation, apiThroughput, dnsAnswers, dnsZone]
/** Only when named: they take minutes, and say how busy the machine was. */
const heavy = [fleetLoad]
const gates = process.argv.includes('--gates')
const wanted = process.argv.slice(2).filter(argument => argument !== '--gates')
const [load = 0] = loadavg()

const named = heavy.filter(({ name }) => wanted.includes(name))

if (load > availableParallelism() && named.length === 0) {
  process.stderr.write(`bench: the load is ${load.toFixed(1)}, the machine is too busy to measure on\n`)
  process.exit(2)
}

let failures = 0
for (const bench of [...benches, ...named]) {
  if (wanted.length > 0 && !wanted.some(name => bench.name.includes(name))) continue
  process.stdout.write(`${bench.name}\n`)
  for (const row of await bench.run()) {
    process.stdout.write(`  ${rowText(row)}\n`)
    if (failureOf(row) !== undefined) failures++
  }
}
if (gates && failures > 0) {
  process.stderr.write(`bench: ${failures} figures are not what they have to be\n`)
  process.exit(1)
}
