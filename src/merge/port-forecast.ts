import type { ExportedPort } from '../api/kinds/exported-service.ts'
import { clustersText, disputeText, shown } from './forecast-text.ts'
import { nameOf, portText, socketOf } from './ports.ts'
import type { Ranked, Resolution } from './resolution.ts'

const maxSentences = 6

/** A sentence for each port of this cluster's export that it loses, takes from others, lacks or has alone. */
export function portForecast(resolution: Resolution<Ranked>, after: Ranked): readonly string[] {
  const all = [...disputes(resolution, after), ...gaps(resolution, after)]
  const more = all.length - maxSentences
  return more <= 0 ? all : [...all.slice(0, maxSentences), `ports: ${more} more differ`]
}

function disputes({ contributions, ports }: Resolution<Ranked>, after: Ranked): readonly string[] {
  return contributions.flatMap(loser =>
    loser.service.ports.flatMap(own => {
      const used = rivalOf(own, ports)
      const winner = used && contributions.find(contribution => has(contribution, used))
      if (used === undefined || winner === undefined || (loser !== after && winner !== after)) return []
      const texts = { used: portText(used), own: portText(own) }
      return [disputeText({ field: 'ports', ...texts, losers: [loser], winner, after })]
    }),
  )
}

/** The port that is used instead; undefined when it is used as it is. */
function rivalOf(own: ExportedPort, used: readonly ExportedPort[]): ExportedPort | undefined {
  if (used.some(port => portText(port) === portText(own))) return undefined
  return (
    used.find(port => nameOf(port) === nameOf(own)) ?? used.find(port => socketOf(port) === socketOf(own))
  )
}

/** Ports that only some clusters have. Who claims the name or the number is in a dispute. */
function gaps({ contributions, ports }: Resolution<Ranked>, after: Ranked): readonly string[] {
  return ports.flatMap(port => {
    const without = contributions.filter(contribution => !claims(contribution, port))
    const [holder] = has(after, port)
      ? [after]
      : contributions.filter(contribution => has(contribution, port))
    const isOwn = holder === after || without.includes(after)
    if (without.length === 0 || holder === undefined || !isOwn) return []
    const lacking = clustersText(without.includes(after) ? [after] : without, after)
    const text = shown(portText(port))
    return [
      `ports: ${text} of ${clustersText([holder], after)} is not exported by ${lacking}: its traffic does not go there`,
    ]
  })
}

function has({ service }: Ranked, port: ExportedPort): boolean {
  return service.ports.some(own => portText(own) === portText(port))
}

function claims({ service }: Ranked, port: ExportedPort): boolean {
  return service.ports.some(own => socketOf(own) === socketOf(port) || nameOf(own) === nameOf(port))
}
