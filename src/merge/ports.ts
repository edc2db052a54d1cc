import type { ExportedPort } from '../api/kinds/exported-service.ts'

export type PortLists = readonly (readonly ExportedPort[])[]

/**
 * The union of the ports, by name first and then by protocol and number; earlier lists win (KEP-1645, conflict
 * resolution). No name and no (protocol, number) appears twice; the missing name counts as a name.
 */
export function mergePorts(oldestFirst: PortLists): readonly ExportedPort[] {
  const byName = new Map<string, ExportedPort>()
  const bySocket = new Map<string, ExportedPort>()
  for (const port of oldestFirst.flat()) {
    if (byName.has(nameOf(port)) || bySocket.has(socketOf(port))) continue
    byName.set(nameOf(port), port)
    bySocket.set(socketOf(port), port)
  }
  return [...byName.values()]
}

/** Whether both say the same ports, in any order. */
export function samePorts(a: readonly ExportedPort[], b: readonly ExportedPort[]): boolean {
  if (a.length !== b.length) return false
  const texts = new Set(a.map(portText))
  return b.every(port => texts.has(portText(port)))
}

export function portsText(ports: readonly ExportedPort[]): string {
  return ports.map(portText).join(', ')
}

/** `http:80/TCP`, with the application protocol in brackets when there is one. */
export function portText(port: ExportedPort): string {
  const name = port.name === undefined || port.name === '' ? '' : `${port.name}:`
  const app = port.appProtocol === undefined ? '' : ` (${port.appProtocol})`
  return `${name}${socketOf(port)}${app}`
}

/** Having no name counts as a name. */
export function nameOf(port: ExportedPort): string {
  return port.name ?? ''
}

export function socketOf(port: ExportedPort): string {
  return `${port.port}/${port.protocol}`
}
