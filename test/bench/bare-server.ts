// The baseline of the API throughput: a bare TLS server that answers one fixed object, and writes nothing.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const [certFile = '', keyFile = ''] = process.argv.slice(2)
const body = Buffer.from(readFileSync(0))

const server = createServer(
  { cert: readFileSync(certFile), key: readFileSync(keyFile) },
  (request, response) => {
    request.resume()
    request.on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
      response.end(body)
    })
  },
)
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`ready ${address !== null && typeof address === 'object' ? address.port : 0}\n`)
})
