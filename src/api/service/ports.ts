/** The rules of a Service's ports. */
import {
  duplicateValue,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../kernel/field-error.ts'
import { dns1123LabelErrors, labelKeyErrors, portNameErrors } from '../names.ts'
import type { ServicePort, ServiceSpec } from './schema.ts'

const protocols = ['SCTP', 'TCP', 'UDP']
const range = 'must be between 1 and 65535, inclusive'

export function isPort(port: number | bigint): boolean {
  return port >= 1 && port <= 65535
}

export function portsErrors(spec: ServiceSpec): readonly FieldError[] {
  const ports = spec.ports ?? []
  const needed = spec.type !== 'ExternalName' && spec.clusterIP !== 'None'
  if (needed && ports.length === 0) return [required('spec.ports', '')]
  return [
    ...ports.flatMap((port, i) => portErrors(port, ports.length > 1, `spec.ports[${i}]`)),
    ...repeated(ports, 'name', p => p.name || undefined),
    ...repeated(ports, 'nodePort', p => (p.nodePort ? `${p.protocol}/${p.nodePort}` : undefined)),
    ...nodePortErrors(spec, ports),
  ]
}

function portErrors(port: ServicePort, nameNeeded: boolean, at: string): readonly FieldError[] {
  const { name = '', protocol = '', appProtocol } = port
  return [
    ...(name === '' && nameNeeded ? [required(`${at}.name`, '')] : []),
    ...(name === '' ? [] : dns1123LabelErrors(name)).map(e => invalidValue(`${at}.name`, name, e)),
    ...(isPort(port.port) ? [] : [invalidValue(`${at}.port`, port.port, range)]),
    ...(protocol === '' ? [required(`${at}.protocol`, '')] : []),
    ...(protocol === '' || protocols.includes(protocol)
      ? []
      : [notSupported(`${at}.protocol`, protocol, protocols)]),
    ...targetErrors(port.targetPort, `${at}.targetPort`),
    ...(appProtocol === undefined ? [] : labelKeyErrors(appProtocol)).map(e =>
      invalidValue(`${at}.appProtocol`, appProtocol, e),
    ),
  ]
}

function targetErrors(target: number | bigint | string | undefined, field: string): readonly FieldError[] {
  if (target === undefined) return []
  if (typeof target !== 'string') return isPort(target) ? [] : [invalidValue(field, target, range)]
  return portNameErrors(target).map(e => invalidValue(field, target, e))
}

function repeated(
  ports: readonly ServicePort[],
  field: 'name' | 'nodePort',
  keyOf: (port: ServicePort) => string | undefined,
): readonly FieldError[] {
  const seen = new Set<string>()
  return ports.flatMap((port, i) => {
    const key = keyOf(port)
    if (key === undefined) return []
    const again = seen.has(key)
    seen.add(key)
    return again ? [duplicateValue(`spec.ports[${i}].${field}`, port[field])] : []
  })
}

function nodePortErrors(spec: ServiceSpec, ports: readonly ServicePort[]): readonly FieldError[] {
  const allowed = spec.type === 'NodePort' || spec.type === 'LoadBalancer'
  return ports.flatMap((port, i) => {
    const field = `spec.ports[${i}].nodePort`
    if (!port.nodePort) return []
    if (!allowed) return [forbiddenField(field, `may not be used when \`type\` is '${spec.type}'`)]
    return isPort(port.nodePort) ? [] : [invalidValue(field, port.nodePort, range)]
  })
}
