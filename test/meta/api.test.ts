// docs/api.md: its table of kinds is generated; what it says of labels, limits and missing parts is held to the server.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultLimits } from '../../apiservice/fairness/stage.ts'
import { maxBodyBytes } from '../../apiservice/http/body.ts'
import { maxStoredBytes } from '../../apiservice/registry/write.ts'
import { withDefaults } from '../../apiservice/store/options.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import { sliceManager, wellKnown } from '../../src/api/well-known.ts'
import { memoryLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import type { ApiCall } from '../support/api-client.ts'
import { type TestServer, testServer } from '../support/api-server.ts'
import { manualClock } from '../support/manual-clock.ts'
import { plain, sectionText, tableRows } from '../support/markdown.ts'

const page = 'docs/api.md'

describe('the documented labels and annotations', () => {
  const told = tableRows(sectionText(page, 'Labels and annotations')).map(([key = '']) => plain(key))

  it('are those that the sources know', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.ts'))
      .map(file => readFileSync(join('src', file), 'utf8'))
    const ofHub = sources.flatMap(text => [...text.matchAll(/'(hub\.isthmus\.dev\/(?!v\d)[a-z-]+)'/g)])
    expect(new Set(told)).toEqual(new Set([...Object.values(wellKnown), ...ofHub.map(([, key]) => key)]))
    expect(sectionText(page, 'Labels and annotations')).toContain(`\`${sliceManager}\``)
  })
})

describe('the table of who writes what', () => {
  it('tells of every kind that is not built in', () => {
    const text = tableRows(sectionText(page, 'Who writes what'))
      .map(([kind]) => kind)
      .join(', ')
    const own = kinds.filter(({ servers }) => !servers.includes('standalone')).map(({ kind }) => kind)
    expect(own.filter(kind => !text.includes(kind))).toEqual([])
  })
})

describe('the documented limits', () => {
  it('are those of the server', () => {
    const told = new Map(
      tableRows(sectionText(page, 'Limits')).map(([what = '', limit = '']) => [what, limit]),
    )
    const store = withDefaults({ clock: manualClock(), log: memoryLogger(), metrics: noMetrics })
    const mebibytes = (bytes: number): string => `${bytes / 1024 / 1024} MiB`
    expect(Object.fromEntries(told)).toMatchObject({
      'body of a request': mebibytes(maxBodyBytes),
      'object in the store': `${maxStoredBytes / 1024} KiB`,
      'requests at once, watches excepted once they have begun': `${defaultLimits.readOnly} that read, ${defaultLimits.mutating} that write; a quarter of them for one client`,
      'requests of one client that wait for that': `${defaultLimits.readOnly} that read, ${defaultLimits.mutating} that write, for 15 seconds`,
      'changes kept for watches and older lists': `${store.historyMs / 60_000} minutes, at most ${store.historyEvents} changes or ${mebibytes(store.historyBytes)}`,
      'writes that wait for their commit': `${store.queuedWrites}, at most ${mebibytes(store.queuedBytes)}`,
    })
  })
})

type Missing = {
  readonly path: string
  readonly call?: ApiCall
  /** The code of the answer. */
  readonly expected: number
}

const configMaps = '/api/v1/namespaces/default/configmaps'
const json = { 'content-type': 'application/json' }

/** What comes of asking for what is missing: when it is there one day, the page has to say so. */
const missing: readonly (readonly [row: RegExp, missing: Missing])[] = [
  [/behind a kube-apiserver/, { path: '/apis/apiregistration.k8s.io', expected: 404 }],
  [
    /TokenReview/,
    {
      path: '/apis/authentication.k8s.io/v1/tokenreviews',
      call: { method: 'POST', headers: json, body: '{}' },
      expected: 404,
    },
  ],
  [
    /protocol buffers in answers/,
    {
      path: configMaps,
      call: { headers: { accept: 'application/vnd.kubernetes.protobuf' } },
      expected: 406,
    },
  ],
  [/admission webhooks/, { path: '/apis/admissionregistration.k8s.io', expected: 404 }],
  [/CustomResourceDefinitions/, { path: '/apis/apiextensions.k8s.io', expected: 404 }],
  [/ServiceAccounts/, { path: '/api/v1/serviceaccounts', expected: 404 }],
  [/workloads/, { path: '/apis/apps', expected: 404 }],
  [/workloads/, { path: '/api/v1/pods', expected: 404 }],
  [/FlowSchemas/, { path: '/apis/flowcontrol.apiserver.k8s.io', expected: 404 }],
]

describe('what is said to be missing', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await testServer()
  })
  afterAll(() => server.close())
  const rows = tableRows(sectionText(page, 'What is not there yet'))

  it.each(missing)('%s', async (row, { path, call = {}, expected }) => {
    expect(rows.filter(([told = '']) => row.test(told))).toHaveLength(1)
    expect((await server.client().send(path, call)).status).toBe(expected)
  })
})
