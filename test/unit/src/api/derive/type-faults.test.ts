import { describe, expect, it } from 'vitest'
import { sampleOf } from '../../../../../src/api/derive/sample.ts'
import { typeFaults } from '../../../../../src/api/derive/type-faults.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const faults = (kind: string, content: object) =>
  typeFaults(kindNamed(kind), { apiVersion: 'v1', kind, metadata: { name: 'web' }, ...content })

describe('a configuration of a wrong type', () => {
  // What kube-apiserver 1.37 answers.
  it.each([
    [{ data: { a: '9', b: 5 } }, ['.data.b: expected string, got &value.valueUnstructured{Value:5}']],
    [{ data: 'x' }, ['.data: expected map, got &{x}']],
    [{ data: [1] }, ['.data: expected map, got &{[1]}']],
    [{ immutable: 'x' }, ['.immutable: expected boolean, got &{x}']],
    [
      { data: { a: 5, b: true }, immutable: 'x' },
      [
        '.data.a: expected string, got &value.valueUnstructured{Value:5}',
        '.data.b: expected string, got &value.valueUnstructured{Value:true}',
        '.immutable: expected boolean, got &{x}',
      ],
    ],
    [{ data: { a: null } }, []],
  ])('%j of a ConfigMap', (content, expected) => {
    expect(faults('ConfigMap', content)).toEqual(expected)
  })

  it.each([
    [
      { ports: [{ port: 'x' }] },
      ['.spec.ports[port="x",protocol="TCP"].port: expected numeric (int or float), got string'],
    ],
    [{ ports: {} }, ['.spec.ports: expected list, got &{map[]}']],
    [{ ports: [5] }, ['.spec.ports: element 0: associative list with keys may not have non-map elements']],
    [{ ports: [null] }, ['.spec.ports: element 0: associative list with keys may not have a null element']],
    [{ ports: null }, []],
    [{ ports: [{ port: 80.5 }] }, []],
    [{ ports: [{ port: 80, targetPort: true }] }, []],
    [{ selector: { a: 5 } }, ['.spec.selector.a: expected string, got &value.valueUnstructured{Value:5}']],
    [{ publishNotReadyAddresses: 'x' }, ['.spec.publishNotReadyAddresses: expected boolean, got &{x}']],
    [
      { clusterIPs: ['x', 5] },
      ['.spec.clusterIPs[1]: expected string, got &value.valueUnstructured{Value:5}'],
    ],
    [{ clusterIPs: 'x' }, ['.spec.clusterIPs: expected list, got &{x}']],
    [
      { ports: [{ port: 80, nodePort: '8' }] },
      ['.spec.ports[port=80,protocol="TCP"].nodePort: expected numeric (int or float), got string'],
    ],
    [
      { sessionAffinityConfig: { clientIP: { timeoutSeconds: 'x' } } },
      ['.spec.sessionAffinityConfig.clientIP.timeoutSeconds: expected numeric (int or float), got string'],
    ],
    ['x', ['.spec: expected map, got &{x}']],
    [['x'], ['.spec: expected map, got &{[x]}']],
  ])('%j as the spec of a Service', (spec, expected) => {
    expect(faults('Service', { spec })).toEqual(expected)
  })

  it('is told a hundred times at most', () => {
    const data = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`k${i}`, i]))
    expect(faults('ConfigMap', { data })).toHaveLength(100)
  })

  it.each(kinds.map(kind => [kind.kind, kind] as const))('is no sample of %s', (_, kind) => {
    expect(typeFaults(kind, sampleOf(kind))).toEqual([])
  })
})
