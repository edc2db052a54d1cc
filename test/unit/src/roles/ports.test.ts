import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type PortClaim, requirePorts } from '../../../../src/roles/ports.ts'
import { freePorts } from '../../../support/fleet.ts'

const host = '127.0.0.1'

function claim(owner: string, port: number, protocols: PortClaim['protocols'] = ['TCP']): PortClaim {
  return { owner, host, port, protocols, advice: 'choose another with --port' }
}

describe('ports', () => {
  it('that are free are left free', async () => {
    const port = await freePorts()
    await requirePorts([claim('the hub', port), claim('DNS', port + 1, ['TCP', 'UDP'])])
    await requirePorts([claim('the hub', port), claim('DNS', port + 1, ['TCP', 'UDP'])])
  })

  it('that are taken are named, all of them, with what to do', async () => {
    const port = await freePorts()
    const tcp = createServer().listen(port, host)
    const udp = createSocket('udp4').bind(port + 1, host)
    await Promise.all([once(tcp, 'listening'), once(udp, 'listening')])
    const other = { ...claim('probes', port), advice: 'choose another with --probe-port' }
    const claims = [claim('the hub', port), claim('DNS', port + 1, ['TCP', 'UDP']), other]
    await expect(requirePorts(claims)).rejects.toThrow(
      `TCP port ${port} on 127.0.0.1 for the hub is in use; UDP port ${port + 1} on 127.0.0.1 for DNS is in use; TCP port ${port} on 127.0.0.1 for probes is in use; choose another with --port; choose another with --probe-port`,
    )
    tcp.close()
    udp.close()
  })

  it.each([
    [claim('the hub', 65_536), /^port 65536 for the hub is above 65535; /],
    [
      { ...claim('the hub', 20_001), host: '192.0.2.1' },
      /192\.0\.2\.1 for the hub cannot be had: this machine has no such/,
    ],
  ])('%# that cannot be are refused', async (wrong, sentence) => {
    await expect(requirePorts([wrong])).rejects.toThrow(sentence)
  })
})
