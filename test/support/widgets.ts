import type { KubeObject } from '../../src/api/meta.ts'
import { SpaceKind, WidgetKind } from './kinds.ts'
import { aRegistry, type RegistryOptions, type RegistryUnderTest } from './registry.ts'

export const widgets = '/apis/test.example.com/v2/namespaces/shop/widgets'
export const allWidgets = '/apis/test.example.com/v2/widgets'
export const spaces = '/api/v1/spaces'

export type WidgetParts = {
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly spec?: unknown
  readonly status?: unknown
}

/** What a client sends to create a widget; no spec unless given. */
export function aWidget(name: string, parts: WidgetParts = {}): Readonly<Record<string, unknown>> {
  const { metadata, ...rest } = parts
  return { apiVersion: 'test.example.com/v2', kind: 'Widget', metadata: { name, ...metadata }, ...rest }
}

export function aSpace(name: string, parts: WidgetParts = {}): Readonly<Record<string, unknown>> {
  return { ...aWidget(name, parts), apiVersion: 'v1', kind: 'Space' }
}

/** Serves widgets and spaces. */
export function aWidgetRegistry(options: Partial<RegistryOptions> = {}): Promise<RegistryUnderTest> {
  return aRegistry({ kinds: [WidgetKind, SpaceKind], ...options })
}

/** Creates a widget and answers it as the server has it. */
export async function makeWidget(
  registry: RegistryUnderTest,
  name: string,
  parts: WidgetParts = {},
): Promise<KubeObject> {
  const answer = await registry.send('POST', widgets, { body: aWidget(name, parts) })
  if (answer.code !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

/** An entry of managedFields as the registry under test makes it for its client. */
export function anUpdate(fieldsV1: unknown, parts: Readonly<Record<string, unknown>> = {}): object {
  return {
    manager: 'tester',
    operation: 'Update',
    apiVersion: 'test.example.com/v2',
    time: '2026-01-02T03:04:05Z',
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...parts,
  }
}

export const applyType = 'application/apply-patch+yaml'
export const mergePatchType = 'application/merge-patch+json'
export const jsonPatchType = 'application/json-patch+json'
export const strategicPatchType = 'application/strategic-merge-patch+json'
