import { once } from 'node:events'
import { connect } from 'node:tls'

/** The serial number of the certificate that a new connection is shown. */
export async function serialShown(url: string): Promise<string | undefined> {
  const { hostname: host, port } = new URL(url)
  // Shown to anybody; whether it is trusted is kube-apiserver's to say.
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { serialNumber } = socket.getPeerX509Certificate() ?? {}
  socket.destroy()
  return serialNumber
}
