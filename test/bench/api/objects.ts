// What the load is made of: ServiceImports as the controller writes them, of one size on every server.

/** The resource below a server's group and version. */
export const resource = 'serviceimports'
/** Names of objects that are there before the load. */
export const seedName = (n: number): string => `seed-${n}`

/** Stands in every object, followed by digits and a quote: a replacement changes nothing but the digits. */
export const mark = '"bench/n":"'
const digits = 8

export const numbered = (n: number): string => String(n % 10 ** digits).padStart(digits, '0')

export function serviceImport(apiVersion: string, name: string): string {
  return JSON.stringify({
    apiVersion,
    kind: 'ServiceImport',
    metadata: { name, labels: { app: 'shop' }, annotations: { 'bench/n': numbered(0) } },
    spec: {
      type: 'ClusterSetIP',
      ips: ['10.100.0.1'],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    },
  })
}

/** The body of a read, changed in place. */
export function replacement(body: Buffer, n: number): Buffer {
  const at = body.indexOf(mark)
  if (at < 0) throw new Error(`an object without ${mark}: ${body.toString('utf8', 0, 500)}`)
  body.write(numbered(n), at + mark.length, 'latin1')
  return body
}

export const statusPatch = (n: number): string => `{"status":{"clusters":[{"cluster":"c-${numbered(n)}"}]}}`
