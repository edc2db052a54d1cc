import { X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  issueClient,
  issueServing,
  makeAuthority,
  makeKey,
  makeRequest,
  matches,
  readCertificate,
  signRequest,
  verifyRequest,
} from '../../../../src/identity/certificate.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const clock = manualClock(Date.parse('2026-01-02T03:04:05Z'))
const dayMs = 86_400_000
const day = { clock, lifetimeMs: dayMs }
const year = { clock, lifetimeMs: 365 * dayMs }

describe('certificates', () => {
  it('are of an authority that may sign end entities only', async () => {
    const authority = await makeAuthority('isthmus-hub', year)
    const read = new X509Certificate(authority.certificate)
    expect(read.subject).toBe('CN=isthmus-hub')
    expect(read.ca).toBe(true)
    expect(read.verify(read.publicKey)).toBe(true)
    expect(read.toLegacyObject().ext_key_usage).toBeUndefined()
  })

  it('name every host and address that a server answers under', async () => {
    const authority = await makeAuthority('isthmus-hub', year)
    const serving = await issueServing(authority, ['hub.example.com', '127.0.0.1', '::1'], day)
    const read = new X509Certificate(serving.certificate)
    expect(read.checkHost('hub.example.com')).toBe('hub.example.com')
    expect(read.checkIP('127.0.0.1')).toBe('127.0.0.1')
    expect(read.checkIP('::1')).toBeDefined()
    expect(read.checkHost('other.example.com')).toBeUndefined()
    expect(read.checkIssued(new X509Certificate(authority.certificate))).toBe(true)
    expect(read.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
  })

  it('say who a client is and for how long', async () => {
    const authority = await makeAuthority('isthmus-hub', year)
    const client = await issueClient(authority, { user: 'admin', groups: ['system:masters', 'b'] }, day)
    const read = new X509Certificate(client.certificate)
    expect(read.subject).toBe('O=system:masters\nO=b\nCN=admin')
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2'])
    expect(readCertificate(client.certificate)).toMatchObject({
      notBeforeMs: clock.now() - 3_600_000,
      notAfterMs: clock.now() + dayMs,
    })
    expect(readCertificate(client.certificate).sha256).toMatch(/^[0-9a-f]{64}$/)
  })

  it('never outlive their authority', async () => {
    const authority = await makeAuthority('isthmus-hub', day)
    const client = await issueClient(authority, { user: 'a', groups: [] }, year)
    expect(readCertificate(client.certificate).notAfterMs).toBe(clock.now() + dayMs)
  })

  it('are signed for the key of a request, under the name that the signer chose', async () => {
    const authority = await makeAuthority('isthmus-hub', year)
    const request = await makeRequest(await makeKey())
    const verified = await verifyRequest(request)
    if (verified === undefined) throw new Error('the request was not accepted')
    const signed = await signRequest(authority, verified, { user: 'east', groups: ['members'] }, day)
    const read = new X509Certificate(signed)
    expect(read.subject).toBe('O=members\nCN=east')
    expect(read.verify(new X509Certificate(authority.certificate).publicKey)).toBe(true)
    expect(verified.keySha256).toMatch(/^[0-9a-f]{64}$/)
  })

  it('belong to one key', async () => {
    const authority = await makeAuthority('a', day)
    expect(matches(authority)).toBe(true)
    expect(matches({ ...authority, key: await makeKey() })).toBe(false)
    expect(matches({ certificate: '', key: '' })).toBe(false)
  })

  it.each([
    ['nothing', ''],
    ['text', 'hello'],
    ['a broken body', '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n'],
    ['too much', 'x'.repeat(20_000)],
  ])('are not signed for %s', async (_what, pem) => {
    expect(await verifyRequest(pem)).toBeUndefined()
  })

  it('are not signed for a request whose signature is not of its key', async () => {
    const request = await makeRequest(await makeKey())
    const der = Buffer.from(request.replace(/-----[A-Z ]+-----|\s/g, ''), 'base64')
    der[der.length - 1] = (der.at(-1) ?? 0) ^ 1
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
    expect(await verifyRequest(forged)).toBeUndefined()
  })
})
