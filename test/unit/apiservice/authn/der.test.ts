import fc from 'fast-check'
import { expect, it } from 'vitest'
import { extensionsOf, pathLengthOf } from '../../../../apiservice/authn/der.ts'
import { aCertificateAuthority, aClientCertificate } from '../../../support/certificates.ts'

const basicConstraints = '551d13'
const ca = await aCertificateAuthority('root', { pathLength: 2 })
const leaf = await aClientCertificate(ca, 'ada')

it('the extensions of a certificate are read with whether they are critical', () => {
  expect(Array.from(extensionsOf(leaf.der), ([oid, { critical }]) => [oid, critical])).toEqual([
    [basicConstraints, true],
    ['551d0f', true],
    ['551d0e', false],
    ['551d23', false],
    ['551d25', false],
  ])
})

it('the path length is read, and is without limit when there is none', () => {
  const constraints = (der: Buffer) => extensionsOf(der).get(basicConstraints)?.value ?? Buffer.alloc(0)
  expect(pathLengthOf(constraints(ca.der))).toBe(2)
  expect(pathLengthOf(constraints(leaf.der))).toBe(Number.POSITIVE_INFINITY)
})

it.each([
  ['nothing', ''],
  ['an element that ends early', '3005'],
  ['an indefinite length', '30800000'],
  ['a length of many bytes', '308501000000'],
  ['a long tag', '1f8101'],
  ['something behind the certificate', '30023000ff'],
  ['no certificate', '3000'],
])('%s is no certificate', (_, hex) => {
  expect(() => extensionsOf(Buffer.from(hex, 'hex'))).toThrow(Error)
})

it('an extension that is there twice is an error', () => {
  const extension = '300a0603551d130403040100'
  const list = `3018${extension}${extension}`
  const hex = `301e301ca31a${list}`
  expect(() => extensionsOf(Buffer.from(hex, 'hex'))).toThrow('an extension is there twice')
})

it('whatever the bytes are, the answer is extensions or an error', () => {
  const damaged = fc
    .tuple(fc.nat(leaf.der.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(leaf.der.length))
    .map(([at, value, length]) => {
      const bytes = Buffer.from(leaf.der)
      bytes[at] = value
      return bytes.subarray(0, length)
    })
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }).map(Buffer.from), damaged), bytes => {
      try {
        expect(extensionsOf(bytes)).toBeInstanceOf(Map)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(Error)
        expect(thrown).not.toBeInstanceOf(RangeError)
        expect(thrown).not.toBeInstanceOf(TypeError)
      }
    }),
    { numRuns: 2000 },
  )
})
