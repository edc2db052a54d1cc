import { describe, expect, it } from 'vitest'
import { withManagers } from '../../../../apiservice/registry/ownership.ts'
import { storedManagers } from '../../../../src/api/derive/managed-fields.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../../../src/api/meta.ts'

const entry = (manager: string): ManagedFieldsEntry => ({
  manager,
  operation: 'Update',
  apiVersion: 'test.example.com/v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': {} },
})

const anObject = (managedFields?: readonly ManagedFieldsEntry[]): KubeObject => ({
  apiVersion: 'test.example.com/v1',
  kind: 'Widget',
  metadata: { name: 'web', ...(managedFields === undefined ? {} : { managedFields }), labels: { a: '1' } },
})

describe('an object with its managers', () => {
  it('has theirs in the place of those before', () => {
    const object = withManagers(anObject([entry('ann')]), storedManagers([entry('bob')]))
    expect(object).toEqual(anObject([entry('bob')]))
    expect(withManagers(anObject(), storedManagers([entry('bob')]))).toEqual(anObject([entry('bob')]))
  })

  it('has no list of them when there are none', () => {
    expect(Object.keys(withManagers(anObject([entry('ann')]), []).metadata)).toEqual(['name', 'labels'])
    const bare = anObject()
    expect(withManagers(bare, [])).toBe(bare)
  })

  it('has the very entries that were stored', () => {
    const stored = [entry('ann'), entry('bob')]
    const { managedFields } = withManagers(anObject(stored), storedManagers(stored)).metadata
    expect(managedFields?.map((found, i) => found === stored[i])).toEqual([true, true])
  })
})
