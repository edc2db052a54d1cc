import { ageColumn, defineKind } from '../../../src/api/kind.ts'
import { s } from '../../../src/api/schema.ts'
import { immutable, invalidValue } from '../../../src/kernel/field-error.ts'

const part = s.object({ name: s.string(), size: s.optional(s.int({ minimum: 1 })) })

const port = s.object({
  port: s.int({ minimum: 1, maximum: 65_535 }),
  protocol: s.oneOf(['TCP', 'UDP'], { default: 'TCP' }),
  note: s.optional(s.string()),
})

const condition = s.object({ type: s.string(), status: s.oneOf(['True', 'False', 'Unknown']) })

/**
 * A kind that no server has heard of, with everything that a schema can say: lists and maps of every merge type, defaults,
 * rules between fields and over time, a status, a scale, columns, and a storage version that is not the preferred one.
 */
export const GadgetKind = defineKind({
  group: 'conventions.example.com',
  versions: [{ name: 'v2' }, { name: 'v1', deprecated: 'conventions.example.com/v1 Gadget is deprecated' }],
  storageVersion: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  shortNames: ['gd'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'For tests.',
  servers: ['standalone'],
  properties: {
    spec: s.object({
      owner: s.string({ minLength: 1 }),
      minimum: s.optional(s.int({ minimum: 0, default: 0 })),
      maximum: s.optional(s.int()),
      replicas: s.optional(s.int({ minimum: 0 })),
      mode: s.optional(s.oneOf(['Fast', 'Safe'], { default: 'Fast' })),
      serial: s.optional(s.int64()),
      target: s.optional(s.intOrString()),
      steps: s.optional(s.atomicList(s.string())),
      tags: s.optional(s.setList(s.string())),
      parts: s.optional(s.mapList(part, ['name'])),
      ports: s.optional(s.mapList(port, ['port', 'protocol'])),
      settings: s.optional(s.map(s.string())),
      selector: s.optional(s.atomic(s.map(s.string()))),
      place: s.optional(s.atomic(s.object({ x: s.optional(s.int()), y: s.optional(s.int()) }))),
      inner: s.optional(s.object({ deep: s.optional(s.object({ note: s.optional(s.string()) })) })),
      free: s.optional(s.anything()),
    }),
    status: s.optional(
      s.object({
        phase: s.optional(s.string()),
        replicas: s.optional(s.int()),
        selector: s.optional(s.string()),
        conditions: s.optional(s.mapList(condition, ['type'])),
      }),
    ),
  },
  status: {},
  scale: {
    wanted: ['spec', 'replicas'],
    current: ['status', 'replicas'],
    selector: ['status', 'selector'],
  },
  sample: {
    spec: {
      owner: 'ann',
      minimum: 1,
      maximum: 5,
      replicas: 2,
      mode: 'Safe',
      serial: 1,
      target: 'http',
      steps: ['one', 'two', 'one'],
      tags: ['a', 'b'],
      parts: [{ name: 'wheel', size: 2 }, { name: 'axle' }],
      ports: [
        { port: 80, protocol: 'TCP' },
        { port: 80, protocol: 'UDP', note: 'quic' },
      ],
      settings: { colour: 'red', shape: 'round' },
      selector: { app: 'web' },
      place: { x: 1, y: 2 },
      inner: { deep: { note: 'down here' } },
      free: { anything: [1, { at: 'all' }] },
    },
    status: { phase: 'New', conditions: [{ type: 'Ready', status: 'True' }] },
  },
  selectableFields: { 'spec.mode': gadget => gadget.spec.mode ?? '' },
  columns: [
    { name: 'Mode', type: 'string', description: 'How it runs.', cell: gadget => gadget.spec.mode ?? null },
    {
      name: 'Parts',
      type: 'integer',
      description: 'How many parts it has.',
      priority: 1,
      cell: gadget => gadget.spec.parts?.length ?? 0,
    },
    ageColumn,
  ],
  validate: ({ spec }, old) => [
    ...(old !== undefined && old.spec.owner !== spec.owner ? [immutable('spec.owner', spec.owner)] : []),
    ...((spec.minimum ?? 0) > (spec.maximum ?? Infinity)
      ? [invalidValue('spec.maximum', spec.maximum, 'must not be less than spec.minimum')]
      : []),
  ],
  warn: ({ spec }) => (spec.minimum === 13 ? ['13 is an unlucky minimum'] : []),
})
