import { describe, expect, it } from 'vitest'
import {
  clusterLabels,
  dashedAddress,
  nameOf,
  parentOf,
  toLabel,
  wireName,
} from '../../../../dns/zone/names.ts'

describe('labels', () => {
  it.each([
    ['web', 'web'],
    ['Web-1', 'web-1'],
    ['1', '1'],
    ['a'.repeat(63), 'a'.repeat(63)],
    ['a'.repeat(64), undefined],
    ['', undefined],
    ['-a', undefined],
    ['a-', undefined],
    ['a.b', undefined],
    ['a_b', undefined],
    ['é', undefined],
    ['İ', undefined],
    ['a\n', undefined],
  ])('%j is %j', (text, label) => {
    expect(toLabel(text)).toBe(label)
  })

  it.each([
    ['east', ['east']],
    ['East', ['east']],
    ['c1.reg', ['c1', 'reg']],
    ['', undefined],
    ['a.b.c', undefined],
    ['East_1', undefined],
    ['a..b', undefined],
    ['.a', undefined],
  ])('of cluster id %j are %j', (id, labels) => {
    expect(clusterLabels(id)).toEqual(labels)
  })

  it.each([
    ['10.1.0.7', '10-1-0-7'],
    ['fd00:1::7', 'fd00-1--7'],
    ['fd00:1::', 'fd00-1--0'],
    ['FD00::A', 'fd00--a'],
  ])('of address %s is %s', (address, label) => {
    expect(dashedAddress(address)).toBe(label)
  })
})

describe('names', () => {
  it('have lengths before labels', () => {
    expect(nameOf('web', 'prod')).toBe('\x03web\x04prod')
    expect(parentOf(nameOf('web', 'prod'))).toBe(nameOf('prod'))
    expect(parentOf(nameOf('prod'))).toBe('')
  })

  it('are folded and ended on the wire', () => {
    expect(wireName('ClusterSet.local.').toString('latin1')).toBe('\x0aclusterset\x05local\0')
  })

  it.each(['', 'a..b', 'a'.repeat(64), `${'a.'.repeat(127)}b`, 'ä.local'])('are not %j', text => {
    expect(() => wireName(text)).toThrow(RangeError)
  })
})
