import { expect, it } from 'vitest'
import { aggregatedRoles } from '../../../../../src/api/derive/rbac.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'

const [view, edit] = aggregatedRoles(kinds)
const prefix = 'rbac.authorization.k8s.io/aggregate-to-'

it('lets all who may view read exports and imports, with their status', () => {
  expect(view?.metadata.labels).toEqual({
    [`${prefix}view`]: 'true',
    [`${prefix}edit`]: 'true',
    [`${prefix}admin`]: 'true',
  })
  expect(view?.rules).toEqual(
    ['serviceexports', 'serviceimports'].map(plural => ({
      apiGroups: ['multicluster.x-k8s.io'],
      resources: [plural, `${plural}/status`],
      verbs: ['get', 'list', 'watch'],
    })),
  )
})

it('lets those who may edit write exports, and nobody imports', () => {
  expect(edit?.metadata.labels).toEqual({ [`${prefix}edit`]: 'true', [`${prefix}admin`]: 'true' })
  expect(edit?.rules).toEqual([
    {
      apiGroups: ['multicluster.x-k8s.io'],
      resources: ['serviceexports'],
      verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
    },
  ])
})
