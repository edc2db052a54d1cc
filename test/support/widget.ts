import type { ServedKind } from '../../apiservice/contract.ts'
import type { StoredObject } from '../../apiservice/store-contract.ts'
import { defineKind } from '../../src/api/kind.ts'
import { s } from '../../src/api/schema.ts'
import { encodeBody } from '../../src/codec/object-bytes.ts'

/** A kind that is nobody's, at two versions. */
export const WidgetKind = defineKind({
  group: 'example.com',
  versions: [{ name: 'v1' }, { name: 'v1beta1', deprecated: 'example.com/v1beta1 Widget is deprecated' }],
  storageVersion: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  shortNames: ['wg'],
  categories: ['all'],
  scope: 'Namespaced',
  description: 'A widget.',
  servers: ['member'],
  properties: { spec: s.optional(s.object({ size: s.optional(s.int()) })) },
  status: {},
  columns: [
    { name: 'Size', type: 'integer', description: 'How large.', cell: widget => widget.spec?.size ?? null },
  ],
})

export const widgets: ServedKind = { kind: WidgetKind, version: 'v1' }

export function aWidget(
  name: string,
  options: { revision?: number; size?: number; note?: string } = {},
): StoredObject {
  const { revision = 7, size, note } = options
  return {
    revision,
    resource: 'widgets.example.com',
    namespace: 'shop',
    name,
    body: encodeBody({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: {
        name,
        namespace: 'shop',
        uid: `uid-${name}`,
        ...(note === undefined ? {} : { annotations: { note } }),
      },
      ...(size === undefined ? {} : { spec: { size } }),
    }),
  }
}

/** The JSON of a widget as it is answered. */
export function widgetJson(name: string, options: { revision?: number; size?: number } = {}) {
  const { revision = 7, size } = options
  return {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { resourceVersion: String(revision), name, namespace: 'shop', uid: `uid-${name}` },
    ...(size === undefined ? {} : { spec: { size } }),
  }
}

/** The PartialObjectMetadata of a widget. */
export function widgetMetadata(name: string, version: 'v1' | 'v1beta1' = 'v1') {
  return {
    apiVersion: `meta.k8s.io/${version}`,
    kind: 'PartialObjectMetadata',
    metadata: { resourceVersion: '7', name, namespace: 'shop', uid: `uid-${name}` },
  }
}
