import { describe, expect, it } from 'vitest'
import { requireRelease } from '../../../../../apiservice/store/etcd/release.ts'

describe('a release of etcd', () => {
  it.each(['3.4.31', '3.4.40', '3.5.13', '3.5.21', '3.6.0', '3.7.3', '4.0.0', '3.6.0-rc.1'])(
    '%s is taken',
    version => {
      expect(() => requireRelease(version, 'etcd://here')).not.toThrow()
    },
  )

  it.each(['2.3.8', '3.3.27', '3.4.30', '3.5.0', '3.5.12', 'unknown', ''])('%s is refused', version => {
    expect(() => requireRelease(version, 'etcd://here')).toThrow(
      `the etcd of etcd://here is of release ${version}: 3.5.13 or a later one is needed, or 3.4.31`,
    )
  })
})
