import { describe, expect, it } from 'vitest'
import { serviceFacts } from '../../../../dns/source/facts.ts'
import { aClusterSetIp, aHeadless, aSlice } from '../../../support/dns-objects.ts'

describe('the facts of a service', () => {
  it('are those of the import for a ClusterSetIP', () => {
    const slices = [aSlice('prod/web', 'east', ['http/TCP/8080'], ['web-0 10.1.0.1'])]
    expect(serviceFacts(aClusterSetIp('prod/web', ['10.0.0.1'], ['http/TCP/80', '/UDP/53']), slices)).toEqual(
      {
        namespace: 'prod',
        name: 'web',
        type: 'ClusterSetIP',
        ips: ['10.0.0.1'],
        ports: [
          { name: 'http', protocol: 'tcp', port: 80 },
          { name: '', protocol: 'udp', port: 53 },
        ],
        perCluster: false,
        slices: [],
      },
    )
  })

  it('are those of the ready endpoints for a headless one', () => {
    const endpoints = ['a 10.1.0.1', 'b 10.1.0.2 unknown', 'c 10.1.0.3 notReady', 'd 10.1.0.4 terminating']
    const { slices, ips } = serviceFacts(aHeadless('prod/db', ['None']), [
      aSlice('prod/db', 'east', ['//'], endpoints),
    ])
    expect(ips).toEqual([])
    expect(slices).toEqual([
      {
        cluster: 'east',
        ports: [{ name: '', protocol: 'tcp', port: 0 }],
        endpoints: [
          { addresses: ['10.1.0.1'], hostname: 'a' },
          { addresses: ['10.1.0.2'], hostname: 'b' },
        ],
      },
    ])
  })

  it('do not depend on the order of slices', () => {
    const slices = [
      aSlice('prod/db', 'east', [], ['a 10.1.0.1']),
      aSlice('prod/db', 'west', [], ['b 10.1.0.2']),
      aSlice('prod/db', 'north', [], ['c 10.1.0.3']),
    ]
    expect(serviceFacts(aHeadless('prod/db'), slices.toReversed())).toEqual(
      serviceFacts(aHeadless('prod/db'), slices),
    )
  })

  it('leave out slices of host names', () => {
    const slice = { ...aSlice('prod/db', 'east', [], ['a example.com']), addressType: 'FQDN' }
    expect(serviceFacts(aHeadless('prod/db'), [slice]).slices).toEqual([])
  })
})
