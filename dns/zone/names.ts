/**
 * Names as the zone holds them: length-prefixed labels in a string of one character an octet, lower case. Dots never
 * separate anything in here, so that the label `web.prod` and the labels `web`, `prod` stay different names.
 */

const maxLabelOctets = 63
export const maxNameOctets = 255

const labelPattern = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/

/** The text as a DNS label in lower case (RFC 1123), or undefined. */
export function toLabel(text: string): string | undefined {
  const lower = text.toLowerCase()
  return lower.length <= maxLabelOctets && labelPattern.test(lower) ? lower : undefined
}

/** A relative name of these labels, nearest first. Labels must not be longer than 63 octets. */
export function nameOf(...labels: readonly string[]): string {
  return labels.map(label => String.fromCharCode(label.length) + label).join('')
}

/** The name without its first label. */
export function parentOf(name: string): string {
  return name.slice(1 + name.charCodeAt(0))
}

/** The wire form of a dotted name, folded, root included. Throws a RangeError when the text is no name. */
export function wireName(dotted: string): Buffer {
  const labels = dotted.replace(/\.$/, '').toLowerCase().split('.')
  if (labels.some(label => label.length === 0 || label.length > maxLabelOctets || !/^[ -~]+$/.test(label))) {
    throw new RangeError(`${JSON.stringify(dotted)} is not a DNS name`)
  }
  const wire = Buffer.from(`${nameOf(...labels)}\0`, 'latin1')
  if (wire.length > maxNameOctets) throw new RangeError(`${dotted} is longer than ${maxNameOctets} octets`)
  return wire
}

/**
 * The host label of an endpoint without a usable hostname: its address with `.` and `:` as dashes, the text as it was
 * published (the MCS conformance suite computes it so); `fd00::` would end in a dash, which no host name may.
 */
export function dashedAddress(address: string): string {
  const dashed = address.toLowerCase().replaceAll(/[.:]/g, '-')
  return dashed.endsWith('-') ? `${dashed}0` : dashed
}

/** The labels of a source cluster's id: one, or two when it carries its registry's context (KEP-1645, cluster id). */
export function clusterLabels(id: string): readonly string[] | undefined {
  const texts = id.split('.')
  const labels = texts.map(toLabel).filter(label => label !== undefined)
  return texts.length <= 2 && labels.length === texts.length ? labels : undefined
}
