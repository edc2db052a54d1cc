// Rules as k8s.io/apiserver pkg/audit/policy matches them: the first that fits.
import { describe, expect, it } from 'vitest'
import { parsePolicy, verdictOf } from '../../../../apiservice/audit/policy.ts'
import type { RequestInfo, UserInfo } from '../../../../apiservice/contract.ts'
import { aResourceInfo } from '../../../support/api-request.ts'

const ada: UserInfo = { name: 'ada', groups: ['ops', 'system:authenticated'], extra: {} }
const exports = aResourceInfo({
  verb: 'update',
  group: 'multicluster.x-k8s.io',
  resource: 'serviceexports',
  namespace: 'shop',
  name: 'web',
})
const status = { ...exports, subresource: 'status' }
const namespace = aResourceInfo({ verb: 'get', resource: 'namespaces', namespace: '', name: 'shop' })
const path = (text: string): RequestInfo => ({ isResource: false, verb: 'get', path: text })

function policyOf(rule: object) {
  return parsePolicy(
    JSON.stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      rules: [{ level: 'Request', ...rule }],
    }),
  )
}
const resources = (...names: string[]) => ({
  resources: [{ group: 'multicluster.x-k8s.io', ...(names.length === 0 ? {} : { resources: names }) }],
})

describe('a rule', () => {
  it.each<[string, object, RequestInfo, boolean]>([
    ['without conditions fits resources', {}, exports, true],
    ['without conditions fits paths', {}, path('/healthz'), true],
    ['fits its user', { users: ['bob', 'ada'] }, exports, true],
    ['fits no other user', { users: ['bob'] }, exports, false],
    ['fits one of the groups', { userGroups: ['dev', 'ops'] }, exports, true],
    ['fits no other group', { userGroups: ['dev'] }, exports, false],
    ['needs both user and group', { users: ['ada'], userGroups: ['dev'] }, exports, false],
    ['fits its verb', { verbs: ['update'] }, exports, true],
    ['fits no other verb', { verbs: ['get'] }, exports, false],
    ['fits its namespace', { namespaces: ['shop'] }, exports, true],
    ['fits no other namespace', { namespaces: ['other'] }, exports, false],
    ['fits cluster scope by the empty namespace', { namespaces: [''] }, namespace, true],
    ['with namespaces fits no paths', { namespaces: ['shop'] }, path('/healthz'), false],
    ['fits a whole group', resources(), status, true],
    ['fits a resource', resources('serviceexports'), exports, true],
    ['of a resource fits no subresource', resources('serviceexports'), status, false],
    ['fits a subresource', resources('serviceexports/status'), status, true],
    ['fits all subresources of a resource', resources('serviceexports/*'), status, true],
    ['of all subresources fits not the resource', resources('serviceexports/*'), exports, false],
    ['fits one subresource of all', resources('*/status'), status, true],
    ['fits everything', resources('*'), status, true],
    ['fits no other group of kinds', { resources: [{ group: '', resources: ['*'] }] }, exports, false],
    [
      'fits names',
      {
        resources: [
          { group: 'multicluster.x-k8s.io', resources: ['serviceexports'], resourceNames: ['web'] },
        ],
      },
      exports,
      true,
    ],
    [
      'fits no other names',
      {
        resources: [
          { group: 'multicluster.x-k8s.io', resources: ['serviceexports'], resourceNames: ['api'] },
        ],
      },
      exports,
      false,
    ],
    ['fits a path', { nonResourceURLs: ['/healthz'] }, path('/healthz'), true],
    ['fits paths that begin so', { nonResourceURLs: ['/healthz*'] }, path('/healthz/ready'), true],
    ['fits all paths', { nonResourceURLs: ['*'] }, path('/version'), true],
    ['fits no other path', { nonResourceURLs: ['/healthz'] }, path('/healthz/ready'), false],
    ['with paths fits no resources', { nonResourceURLs: ['*'] }, exports, false],
  ])('%s', (_, rule, info, isFitting) => {
    expect(verdictOf(policyOf(rule), ada, info).level).toBe(isFitting ? 'Request' : 'None')
  })

  it('comes first, or is not asked', () => {
    const policy = parsePolicy(`
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  users: [bob]
- level: RequestResponse
  verbs: [update]
  omitStages: [ResponseStarted]
  omitManagedFields: false
- level: Metadata
`)
    expect(verdictOf(policy, { ...ada, name: 'bob' }, exports).level).toBe('None')
    expect(verdictOf(policy, ada, exports)).toMatchObject({
      level: 'RequestResponse',
      omitStages: new Set(['RequestReceived', 'ResponseStarted']),
      omitManagedFields: false,
    })
    expect(verdictOf(policy, ada, namespace)).toMatchObject({
      level: 'Metadata',
      omitStages: new Set(['RequestReceived']),
      omitManagedFields: true,
    })
  })
})

describe('a policy that is none is refused and its field named', () => {
  it.each<[string, object, string]>([
    [
      'level',
      { level: 'metadata' },
      'rules[0].level must be one of None, Metadata, Request, RequestResponse',
    ],
    [
      'stage',
      { omitStages: ['Begin'] },
      'rules[0].omitStages must be of RequestReceived, ResponseStarted, Resp',
    ],
    ['users', { users: 'ada' }, 'rules[0].users must be a list'],
    ['verbs', { verbs: [7] }, 'rules[0].verbs must be a list of strings'],
    ['path', { nonResourceURLs: ['healthz'] }, 'rules[0].nonResourceURLs must begin with a slash'],
    ['star', { nonResourceURLs: ['/a*b'] }, 'rules[0].nonResourceURLs must begin with a slash'],
    [
      'mixture',
      { nonResourceURLs: ['*'], namespaces: ['a'] },
      'rules[0].nonResourceURLs must not stand beside',
    ],
    ['group', { resources: [{ group: 7 }] }, 'rules[0].resources[0].group must be a string'],
    [
      'names',
      { resources: [{ resourceNames: ['a'] }] },
      'rules[0].resources[0].resourceNames needs resources',
    ],
    ['managed', { omitManagedFields: 'yes' }, 'rules[0].omitManagedFields must be true or false'],
  ])('%s', (_, rule, message) => {
    expect(() => policyOf(rule)).toThrow(message)
  })

  it.each([
    ['a: b', 'the policy must be a Policy of audit.k8s.io/v1'],
    ['[]', 'the policy must be an object'],
    ['{"apiVersion":"audit.k8s.io/v1","kind":"Policy"}', 'rules must hold at least one rule'],
  ])('%s', (text, message) => {
    expect(() => parsePolicy(text)).toThrow(message)
  })
})
