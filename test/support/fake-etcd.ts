import { join } from 'node:path'
import { Server, ServerCredentials, type ServiceDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

type Query = { readonly key: Buffer }

/** What it answers to requests of a method. */
export type Answers = {
  readonly status?: object
  readonly range?: object | Promise<object> | ((key: string) => object)
  readonly txn?: () => Promise<object>
  readonly leaseTime?: () => object
}

const header = { revision: 1 }

type Reply = (failure: null, message: object) => void

/** Something that speaks as etcd does and says what it is told to; the port it listens on. */
export async function fakeEtcd({
  status = { version: '3.7.3' },
  range = {},
  txn = () => Promise.resolve({}),
  leaseTime = () => ({}),
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
    range: ({ request }: { readonly request: Query }, answer: Reply) => {
      const answered = typeof range === 'function' ? range(request.key.toString()) : range
      void Promise.resolve(answered).then(message => answer(null, { header, ...message }))
    },
    txn: (_call: unknown, answer: Reply) => {
      void txn().then(message => answer(null, { header, ...message }))
    },
  })
  server.addService(definition['etcdserverpb.Lease'] as ServiceDefinition, {
    leaseTimeToLive: (_call: unknown, answer: Reply) => answer(null, leaseTime()),
  })
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (failure, bound) =>
      failure === null ? resolve(bound) : reject(failure),
    )
  })
  return { port, stop: () => server.forceShutdown() }
}
