import { join } from 'node:path'
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

/** What it answers to every request of a method. */
export type Answers = {
  readonly status?: object
  readonly range?: object | Promise<object>
  readonly txn?: () => Promise<object>
}

const header = { revision: 1 }

type Reply = (failure: null, message: object) => void

/** Something that speaks as etcd does and says what it is told to; the port it listens on. */
export async function fakeEtcd({
  status = { version: '3.7.3' },
  range = {},
  txn = () => Promise.resolve({}),
}: Answers): Promise<{
  readonly port: number
  stop(): void
}> {
  const definition = loadSync(join(import.meta.dirname, '../../apiservice/store/etcd/etcd.proto'))
  const server = new Server()
  // These are services in the file.
  server.addService(definition['etcdserverpb.Maintenance'] as ServiceDefinition, {
    status: (_call: unknown, answer: Reply) => answer(null, status),
  })
  server.addService(definition['etcdserverpb.KV'] as ServiceDefinition, {
    range: (_call: unknown, answer: Reply) => {
      void Promise.resolve(range).then(message => answer(null, { header, ...message }))
    },
    txn: (_call: unknown, answer: Reply) => {
      void txn().then(message => answer(null, { header, ...message }))
    },
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (failure, bound) =>
      failure === null ? resolve(bound) : reject(failure),
    )
  })
  return { port, stop: () => server.forceShutdown() }
}
