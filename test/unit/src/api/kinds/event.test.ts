import { describe, expect, it } from 'vitest'
import { sampleOf } from '../../../../../src/api/derive/sample.ts'
import { applyDefaults, validateSchema } from '../../../../../src/api/derive/validate.ts'
import type { KubeObject } from '../../../../../src/api/meta.ts'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const kind = kindNamed('Event')
const sample = sampleOf(kind)

const about = (namespace: string, involved: string | undefined): KubeObject => ({
  ...sample,
  metadata: { name: 'a', namespace },
  involvedObject: { kind: 'K', name: 'a', ...(involved === undefined ? {} : { namespace: involved }) },
})

describe('an event', () => {
  it.each([
    ['shop', 'shop', []],
    ['default', undefined, []],
    ['kube-system', '', []],
    ['shop', 'other', ['involvedObject.namespace: Invalid value: "other": does not match event.namespace']],
    ['shop', undefined, ['involvedObject.namespace: Invalid value: "": does not match event.namespace']],
  ])('in %s about an object in %s', (namespace, involved, errors) => {
    expect(kind.validate(about(namespace, involved)).map(fieldErrorText)).toEqual(errors)
  })

  it('is selected by what kubectl describe asks for', () => {
    const select = (field: string) => kind.selectableFields[field]?.(sample as never)
    expect(select('involvedObject.name')).toBe('web')
    expect(select('involvedObject.kind')).toBe('ServiceExport')
    expect(select('involvedObject.namespace')).toBe('default')
    expect(select('involvedObject.uid')).toBe('')
    expect(select('reason')).toBe('Exported')
    expect(select('source')).toBe('isthmus')
    expect(select('type')).toBe('Normal')
  })

  it.each([
    ['2026-01-02T03:04:05.000006Z', []],
    ['2026-01-02T03:04:05.000006+02:00', []],
    ['2026-01-02T03:04:05Z', ['eventTime']],
    ['2026-01-02T03:04:05.006Z', ['eventTime']],
    ['2026-01-02T03:04:05.000006789Z', ['eventTime']],
    ['2026-02-30T03:04:05.000006Z', ['eventTime']],
  ])('at %s has a time that Go clients can read, or is refused', (eventTime, fields) => {
    expect(validateSchema(kind, { ...sample, eventTime }).map(({ field }) => field)).toEqual(fields)
  })

  it('may have times that are null, as clients send them', () => {
    const sent = { ...sample, eventTime: null, series: null, lastTimestamp: null }
    expect(validateSchema(kind, applyDefaults(kind, sent))).toEqual([])
  })

  it('is gone after an hour', () => {
    expect(kind.ttlSeconds).toBe(3600)
  })
})
