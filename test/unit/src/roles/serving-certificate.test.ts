import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Identity, issueServing, makeAuthority } from '../../../../src/identity/certificate.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { certificateFromFiles } from '../../../../src/roles/serving-certificate.ts'
import { temporaryFolder } from '../../../support/fleet.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const serverName = 'member.isthmus-system.svc'

describe('a serving certificate in files', () => {
  const clock = manualClock()
  const lifetime = { clock, lifetimeMs: 3_600_000 }
  let authority: Identity
  let folder: ReturnType<typeof temporaryFolder>
  beforeEach(async () => {
    folder = temporaryFolder()
    authority = await makeAuthority('test', lifetime)
  })
  afterEach(() => folder.dispose())

  const path = (name: string): string => join(folder.path, name)
  const open = () => certificateFromFiles({ certificate: path('tls.crt'), key: path('tls.key'), serverName })
  const make = (name = serverName): Promise<Identity> => issueServing(authority, [name], lifetime)
  const write = ({ certificate, key }: Partial<Identity>): void => {
    if (certificate !== undefined) writeFileSync(path('tls.crt'), certificate)
    if (key !== undefined) writeFileSync(path('tls.key'), key)
  }

  it('is shown as it is now', async () => {
    const [first, second] = [await make(), await make()]
    write(first)
    const serving = open()
    const log = memoryLogger()
    const stop = new AbortController()
    let changes = 0
    const changed = (): void => {
      changes += 1
    }
    serving.follow(changed, { clock, log, metrics: noMetrics, signal: stop.signal })
    expect(serving.current()).toEqual(first)
    write({ certificate: second.certificate })
    await clock.advance(10_000)
    // A certificate whose key is not there yet is of no use.
    expect(serving.current()).toEqual(first)
    expect(log.lines.map(({ message }) => message)).toEqual(['serving certificate not replaced'])
    write({ key: second.key })
    await clock.advance(5_000)
    expect(serving.current()).toEqual(second)
    expect(serving.trusted()).toBe(second.certificate)
    await clock.advance(20_000)
    expect(changes).toBe(1)
    stop.abort()
  })

  it('must be there, fit its key and be for the name that it is looked for', async () => {
    expect(open).toThrow('tls.crt cannot be read')
    const [good, other] = [await make(), await make()]
    write({ certificate: good.certificate, key: other.key })
    expect(open).toThrow('holds no certificate for the key')
    write(await make('other.example.com'))
    expect(open).toThrow(`is not for ${serverName}`)
  })
})
