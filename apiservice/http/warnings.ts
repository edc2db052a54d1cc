const maxTotal = 4096
const maxEach = 256

/**
 * The values of a response's Warning headers: `299 - "text"`, each text once, texts with control characters dropped.
 * Together they hold at most 4096 characters; where they would hold more, each is cut to 256 first.
 */
export function warningHeaders(texts: Iterable<string>): readonly string[] {
  const unique = [...new Set(texts)].filter(isPrintable)
  const total = unique.reduce((sum, text) => sum + text.length, 0)
  const cut = total > maxTotal ? unique.map(text => text.slice(0, maxEach)) : unique
  let left = maxTotal
  const values: string[] = []
  for (const text of cut) {
    left -= text.length
    if (left < 0) break
    values.push(`299 - ${quoted(text)}`)
  }
  return values
}

/** Node writes header values as latin1: UTF-8 has to be put in byte by byte. */
function quoted(text: string): string {
  return Buffer.from(`"${text.replace(/["\\]/g, '\\$&')}"`, 'utf8').toString('latin1')
}

function isPrintable(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return false
  }
  return text !== ''
}
