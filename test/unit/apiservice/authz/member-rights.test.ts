import { expect, it } from 'vitest'
import { type Membership, memberAuthorizer } from '../../../../apiservice/authz/member-rights.ts'
import type { RequestInfo, UserInfo } from '../../../../apiservice/contract.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { aResourceInfo } from '../../../support/api-request.ts'

const east: Membership = { accepted: true, generation: 3, namespace: 'member-east' }
const members = new Map<string, Membership>([
  ['east', east],
  ['west', { ...east, namespace: 'member-west' }],
  ['evicted', { ...east, accepted: false }],
])
const authorizer = memberAuthorizer({
  memberOf: async id => members.get(id),
  onChange: () => () => undefined,
})

const member = (id: string, generation = 3): UserInfo => ({
  name: `hub.isthmus.dev:member:${id}`,
  groups: ['hub.isthmus.dev:members', `hub.isthmus.dev:generation:${generation}`, 'system:authenticated'],
  extra: {},
})
const joiner: UserInfo = {
  name: 'hub.isthmus.dev:joiner:abcdef',
  groups: ['hub.isthmus.dev:joiners', 'system:authenticated'],
  extra: {},
}

/** `get exportedservices/status web in member-east`; the group is the hub's unless named: `create events.` in core. */
function infoOf(text: string): RequestInfo {
  const [verb = '', what = '', ...rest] = text.split(' ')
  if (what.startsWith('/')) return { isResource: false, verb, path: what }
  const at = rest.indexOf('in')
  const [resourceAndGroup = '', subresource = ''] = what.split('/')
  const [resource = '', ...group] = resourceAndGroup.split('.')
  return aResourceInfo({
    // Only words of RequestInfo stand in the tables below.
    verb: verb as 'get',
    resource,
    subresource,
    group: group.length === 0 ? 'hub.isthmus.dev' : group.join('.'),
    name: at === 0 ? '' : (rest[0] ?? ''),
    namespace: at < 0 ? '' : (rest[at + 1] ?? ''),
  })
}

const decide = async (user: UserInfo, access: string) =>
  (await authorizer.authorize({ user, info: infoOf(access) }, never)).allowed

it.each([
  'create exportedservices in member-east',
  'update exportedservices shop.web in member-east',
  'delete exportedservices shop.web in member-east',
  'deletecollection exportedservices in member-east',
  'watch exportedservices in member-east',
  'get exportedservices/status shop.web in member-east',
  'patch exportedendpointslices shop.web in member-east',
  'list importables in member-east',
  'watch importables in member-east',
  'get importables shop.web in member-east',
  'create leases.coordination.k8s.io in member-east',
  'update leases.coordination.k8s.io agent in member-east',
  'create events. in member-east',
  'create events.events.k8s.io in member-east',
  'get memberclusters east',
  'get memberclusters/status east',
  'delete memberclusters east',
  'create memberjoins',
])('a member may %s', async access => {
  expect(await decide(member('east'), access)).toBe('allow')
})

it.each([
  'list exportedservices',
  'list exportedservices in member-west',
  'create exportedservices in member-west',
  'update exportedservices/status shop.web in member-east',
  'create importables in member-east',
  'list importables in member-west',
  'watch importables',
  'delete leases.coordination.k8s.io agent in member-east',
  'list leases.coordination.k8s.io in member-east',
  'get events. in member-east',
  'list memberclusters',
  'get memberclusters west',
  'get memberclusters',
  'update memberclusters east',
  'patch memberclusters/status east',
  'update memberclusters/status east',
  'get memberclusters/status west',
  'delete memberclusters west',
  'delete memberclusters',
  'deletecollection memberclusters',
  'delete memberclusters/status east',
  'list memberjoins',
  'get clustersetservices shop.web',
  'list namespaces.',
  'get configmaps. ca in member-east',
  'create clusterrolebindings.rbac.authorization.k8s.io',
  'impersonate users. admin',
])('a member may not %s', async access => {
  expect(await decide(member('east'), access)).toBe('deny')
})

it.each(['get /apis', 'get /version', 'create selfsubjectaccessreviews.authorization.k8s.io'])(
  'a member may %s if everybody may',
  async access => {
    expect(await decide(member('east'), access)).toBe('noOpinion')
  },
)

it.each([
  ['that was evicted', member('evicted')],
  ['that nobody knows', member('north')],
  ['with a certificate from before it joined anew', member('east', 2)],
  ['with a certificate from the future', member('east', 4)],
  ['with a certificate of no generation', { ...member('east'), groups: ['hub.isthmus.dev:members'] }],
  ['without a name', { ...member('east'), name: 'hub.isthmus.dev:member:' }],
  ['with a foreign name', { ...member('east'), name: 'east' }],
])('a member %s may do nothing', async (_, user) => {
  for (const access of [
    'list importables in member-east',
    'create memberjoins',
    'get /apis',
    'get memberclusters north',
  ]) {
    expect(await decide(user, access)).toBe('deny')
  }
})

it('a joiner may ask to join, and nothing else', async () => {
  expect(await decide(joiner, 'create memberjoins')).toBe('allow')
  expect(await decide(joiner, 'get memberjoins x')).toBe('deny')
  expect(await decide(joiner, 'list importables in member-east')).toBe('deny')
  expect(await decide(joiner, 'get memberclusters east')).toBe('deny')
  expect(await decide(joiner, 'get /apis')).toBe('noOpinion')
})

it('a name alone makes no member', async () => {
  const eve = { ...member('east'), groups: ['system:authenticated'] }
  expect(await decide(eve, 'list importables in member-east')).toBe('noOpinion')
})
