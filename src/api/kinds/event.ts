import { type FieldError, invalidValue } from '../../kernel/field-error.ts'
import type { Ages } from '../duration.ts'
import { defineKind, type ObjectOfProperties } from '../kind.ts'
import { objectReferenceSchema } from '../object-reference-schema.ts'
import { message, microTime, objectReferenceFields, pointer } from '../protobuf-fields.ts'
import { s } from '../schema.ts'

const properties = {
  action: s.optional(s.string({ description: 'What was done or tried.' })),
  count: s.optional(s.int({ description: 'How often it happened.' })),
  eventTime: s.optional(s.microTime({ description: 'When it first happened, to the microsecond.' })),
  firstTimestamp: s.optional(s.time({ description: 'When it first happened.' })),
  involvedObject: objectReferenceSchema('The object that it happened to.'),
  lastTimestamp: s.optional(s.time({ description: 'When it last happened.' })),
  message: s.optional(s.string({ description: 'What happened, for people.' })),
  reason: s.optional(s.string({ description: 'Why it happened, for programs: one CamelCase word.' })),
  related: s.optional(objectReferenceSchema('Another object that had to do with it.')),
  reportingComponent: s.optional(
    s.string({ description: 'The controller that says so, as example.com/controller.' }),
  ),
  reportingInstance: s.optional(s.string({ description: 'Which instance of the controller says so.' })),
  series: s.optional(
    s.object(
      {
        count: s.optional(s.int({ description: 'How often it happened up to now.' })),
        lastObservedTime: s.optional(s.microTime({ description: 'When it last happened.' })),
      },
      { description: 'The events that this one stands for.' },
    ),
  ),
  source: s.optional(
    s.object(
      {
        component: s.optional(s.string({ description: 'The program that says so.' })),
        host: s.optional(s.string({ description: 'The node that it runs on.' })),
      },
      { description: 'Who says so.' },
    ),
  ),
  type: s.optional(s.string({ description: 'Normal or Warning.' })),
}

export type Event = ObjectOfProperties<typeof properties>

export const EventKind = defineKind({
  group: '',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Event',
  plural: 'events',
  shortNames: ['ev'],
  scope: 'Namespaced',
  description: 'Something that happened to an object. Goes away by itself after an hour.',
  servers: ['standalone'],
  strategicMergePatch: true,
  unconditionalUpdate: true,
  plainFinalizers: 'refused',
  generation: false,
  isCollected: false,
  protobuf: {
    involvedObject: message(2, objectReferenceFields),
    reason: 3,
    message: 4,
    source: message(5, { component: 1, host: 2 }),
    firstTimestamp: 6,
    lastTimestamp: 7,
    count: 8,
    type: 9,
    eventTime: microTime(10),
    series: pointer(11, { count: 1, lastObservedTime: microTime(2) }),
    action: 12,
    related: pointer(13, objectReferenceFields),
    reportingComponent: 14,
    reportingInstance: 15,
  },
  ttlSeconds: 3600,
  properties,
  sample: {
    involvedObject: {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceExport',
      namespace: 'default',
      name: 'web',
    },
    reason: 'Exported',
    message: 'other clusters were told',
    type: 'Normal',
    firstTimestamp: '2026-01-02T03:04:05Z',
    lastTimestamp: '2026-01-02T03:04:05Z',
    count: 1,
    source: { component: 'isthmus' },
  },
  columns: [
    {
      name: 'Last Seen',
      type: 'string',
      description: 'Time since it last happened.',
      cell: (e, ages) => lastSeen(e, ages),
    },
    { name: 'Type', type: 'string', description: 'Normal or Warning.', cell: e => e.type ?? '' },
    { name: 'Reason', type: 'string', description: 'Why it happened.', cell: e => e.reason ?? '' },
    {
      name: 'Object',
      type: 'string',
      description: 'The object that it happened to.',
      cell: e => targetOf(e.involvedObject),
    },
    {
      name: 'Subobject',
      type: 'string',
      description: 'The part of the object.',
      priority: 1,
      cell: e => e.involvedObject.fieldPath ?? '',
    },
    { name: 'Source', type: 'string', description: 'Who says so.', priority: 1, cell: e => sourceOf(e) },
    {
      name: 'Message',
      type: 'string',
      description: 'What happened.',
      cell: e => (e.message ?? '').trim(),
    },
    {
      name: 'First Seen',
      type: 'string',
      description: 'Time since it first happened.',
      priority: 1,
      cell: (e, { ageOf }) => ageOf(e.firstTimestamp ?? e.eventTime),
    },
    {
      name: 'Count',
      type: 'string',
      description: 'How often it happened.',
      priority: 1,
      cell: e => String(e.series?.count ?? e.count ?? 1),
    },
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'Name of the event.',
      priority: 1,
      cell: e => e.metadata.name,
    },
  ],
  selectableFields: {
    'involvedObject.kind': e => e.involvedObject.kind ?? '',
    'involvedObject.namespace': e => e.involvedObject.namespace ?? '',
    'involvedObject.name': e => e.involvedObject.name ?? '',
    'involvedObject.uid': e => e.involvedObject.uid ?? '',
    'involvedObject.apiVersion': e => e.involvedObject.apiVersion ?? '',
    'involvedObject.resourceVersion': e => e.involvedObject.resourceVersion ?? '',
    'involvedObject.fieldPath': e => e.involvedObject.fieldPath ?? '',
    reason: e => e.reason ?? '',
    reportingComponent: e => e.reportingComponent ?? '',
    source: e => e.source?.component ?? e.reportingComponent ?? '',
    type: e => e.type ?? '',
  },
  validate: event => namespaceErrors(event.metadata.namespace, event.involvedObject.namespace ?? ''),
})

/** Events of objects without a namespace are kept in one of these. */
const namespacesOfClusterScope: readonly (string | undefined)[] = ['default', 'kube-system']

function namespaceErrors(namespace: string | undefined, involved: string): readonly FieldError[] {
  const fits = involved === '' ? namespacesOfClusterScope.includes(namespace) : involved === namespace
  return fits ? [] : [invalidValue('involvedObject.namespace', involved, 'does not match event.namespace')]
}

function lastSeen(event: Event, { ageOf }: Ages): string {
  const last = event.series === undefined ? event.lastTimestamp : event.series.lastObservedTime
  return ageOf(last ?? event.firstTimestamp ?? event.eventTime)
}

function targetOf({ kind = '', name = '' }: Event['involvedObject']): string {
  return name === '' ? kind.toLowerCase() : `${kind.toLowerCase()}/${name}`
}

function sourceOf({ source, reportingComponent = '', reportingInstance = '' }: Event): string {
  const component = source?.component ?? reportingComponent
  const instance = source?.host ?? reportingInstance
  return instance === '' ? component : `${component}, ${instance}`
}
