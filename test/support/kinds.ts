import { defineKind } from '../../src/api/kind.ts'
import { s } from '../../src/api/schema.ts'
import { invalidValue } from '../../src/kernel/field-error.ts'

const part = s.object({ name: s.string(), count: s.optional(s.int()) })

/** Like a custom resource: two versions, a status of its own, no update without a resourceVersion. */
export const WidgetKind = defineKind({
  group: 'test.example.com',
  versions: [{ name: 'v2' }, { name: 'v1', deprecated: 'test.example.com/v1 Widget is deprecated' }],
  storageVersion: 'v2',
  kind: 'Widget',
  plural: 'widgets',
  scope: 'Namespaced',
  description: 'For tests.',
  servers: ['standalone'],
  properties: {
    spec: s.optional(
      s.object({
        size: s.optional(s.int({ minimum: 0 })),
        color: s.optional(s.oneOf(['red', 'green', 'blue'], { default: 'red' })),
        tags: s.optional(s.setList(s.string())),
        settings: s.optional(s.map(s.string())),
        extra: s.optional(s.anything()),
      }),
    ),
    status: s.optional(s.object({ phase: s.optional(s.string()) })),
  },
  status: {},
  selectableFields: { 'spec.color': widget => widget.spec?.color ?? '' },
  validate: (widget, old) =>
    (old?.spec?.size ?? 0) > (widget.spec?.size ?? 0)
      ? [invalidValue('spec.size', widget.spec?.size, 'may not shrink')]
      : [],
  warn: widget => (widget.spec?.size === 13 ? ['13 is an unlucky size'] : []),
})

/** Like a built-in kind of cluster scope that holds others, as a namespace does. */
export const SpaceKind = defineKind({
  group: '',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Space',
  plural: 'spaces',
  scope: 'Cluster',
  description: 'For tests.',
  servers: ['standalone'],
  strategicMergePatch: true,
  unconditionalUpdate: true,
  createOnUpdate: true,
  generation: false,
  properties: {
    spec: s.optional(
      s.object({
        holds: s.optional(s.atomicList(s.string())),
        parts: s.optional(s.patchList(s.mapList(part, ['name']), 'name')),
        words: s.optional(s.patchList(s.setList(s.string()), '')),
      }),
    ),
    status: s.optional(s.object({ phase: s.optional(s.string()) })),
  },
  status: { withMetadata: true },
  finalize: {
    pending: space => (space.spec?.holds ?? []).length > 0,
    begin: space => ({ ...space, status: { phase: 'Going' } }),
    apply: (old, sent) => ({ ...old, spec: { ...old.spec, holds: sent.spec?.holds ?? [] } }),
  },
  prepare: (space, old) => (old === undefined ? { ...space, status: { phase: 'There' } } : space),
})

/** Answered and not stored. */
export const QuestionKind = defineKind({
  group: 'test.example.com',
  versions: [{ name: 'v2' }],
  storageVersion: 'v2',
  kind: 'Question',
  plural: 'questions',
  scope: 'Cluster',
  description: 'For tests.',
  servers: ['standalone'],
  storage: 'review',
  properties: {
    spec: s.object({ text: s.string() }),
    status: s.optional(s.object({ answer: s.optional(s.string()) })),
  },
})

/** Computed from widgets of all namespaces. */
export const SightKind = defineKind({
  group: 'test.example.com',
  versions: [{ name: 'v2' }],
  storageVersion: 'v2',
  kind: 'Sight',
  plural: 'sights',
  scope: 'Namespaced',
  description: 'For tests.',
  servers: ['standalone'],
  storage: 'view',
  properties: { spec: s.optional(s.object({ size: s.optional(s.int()), color: s.optional(s.string()) })) },
})
