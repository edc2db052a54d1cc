import { describe, expect, it } from 'vitest'
import { applyDefaults } from '../../../../../src/api/derive/validate.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const kind = kindNamed('Namespace')
const sent = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
const stored = kind.prepare(applyDefaults(kind, sent))

describe('a namespace', () => {
  it('is created active, with its name as a label and the finalizer of its content', () => {
    expect(stored).toEqual({
      ...sent,
      metadata: { name: 'shop', labels: { 'kubernetes.io/metadata.name': 'shop' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
  })

  it('keeps finalizers of others', () => {
    expect(kind.prepare({ ...sent, spec: { finalizers: ['example.com/a'] } })).toMatchObject({
      spec: { finalizers: ['example.com/a', 'kubernetes'] },
    })
  })

  it('gets its label back when it is changed', () => {
    const changed = {
      ...sent,
      metadata: { name: 'shop', labels: { 'kubernetes.io/metadata.name': 'x', a: 'b' } },
    }
    expect(applyDefaults(kind, changed).metadata.labels).toEqual({
      'kubernetes.io/metadata.name': 'shop',
      a: 'b',
    })
  })

  it('keeps its finalizers on writes that are not of /finalize', () => {
    expect(kind.prepare({ ...sent, spec: { finalizers: [] } }, stored)).toMatchObject({
      spec: { finalizers: ['kubernetes'] },
    })
  })

  it('waits in deletion until /finalize has taken its finalizers', () => {
    const { finalize } = kind
    const dying = finalize?.begin(stored) ?? stored
    expect(dying).toMatchObject({ status: { phase: 'Terminating' } })
    expect(finalize?.pending(dying)).toBe(true)
    const done = finalize?.apply(dying, { ...sent, spec: {} }) ?? dying
    expect(done).toEqual({ ...dying, spec: { finalizers: [] } })
    expect(finalize?.pending(done)).toBe(false)
    expect(finalize?.pending(applyDefaults(kind, done))).toBe(false)
  })

  it('takes only qualified names and its own as finalizers', () => {
    const errors = kind.validate({
      ...sent,
      spec: { finalizers: ['kubernetes', 'example.com/a', 'mine', 'a b'] },
    })
    expect(errors.map(e => e.field)).toEqual([
      'spec.finalizers[2]',
      'spec.finalizers[3]',
      'spec.finalizers[3]',
    ])
  })
})
