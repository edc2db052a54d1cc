// npm run bench [-- NAME…]: figures and ratios, each with its baseline measured in the same run.
import { availableParallelism, loadavg } from 'node:os'
import { apiThroughput } from '../test/bench/api.bench.ts'
import { rowText } from '../test/bench/bench.ts'
import { dnsAnswers, dnsZone } from '../test/bench/dns.bench.ts'
import { propagation } from '../test/bench/propagation.bench.ts'

const benches = [propagation, apiThroughput, dnsAnswers, dnsZone]
const wanted = process.argv.slice(2)
const [load = 0] = loadavg()

if (load > availableParallelism()) {
  process.stderr.write(`bench: the load is ${load.toFixed(1)}, the machine is too busy to measure on\n`)
  process.exit(2)
}

for (const bench of benches) {
  if (wanted.length > 0 && !wanted.some(name => bench.name.includes(name))) continue
  process.stdout.write(`${bench.name}\n`)
  for (const row of await bench.run()) process.stdout.write(`  ${rowText(row)}\n`)
}
