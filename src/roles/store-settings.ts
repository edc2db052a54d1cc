/** Where objects are kept: a database in the home, or an etcd, by flags that are called as those of kube-apiserver. */
import { readFileSync } from 'node:fs'
import type { EtcdSettings } from '../../apiservice/store/etcd/open.ts'
import { UsageError } from './command.ts'
import * as setting from './setting.ts'

const scheme = 'etcd://'
const maxServers = 20

export const storeSettings = {
  store: setting.optional(
    etcdServers({
      placeholder: 'etcd://HOST:PORT,…',
      description:
        'The members of an etcd that keeps all objects; of a hub several processes may have it at once. Unless told, objects are kept in the home.',
    }),
  ),
  etcdPrefix: setting.optional(
    keyPrefix({
      placeholder: 'PATH',
      description: 'What all keys in etcd begin with; /isthmus/ and the name of the server unless told.',
    }),
  ),
  etcdCafile: setting.optional(
    filePath({
      placeholder: 'FILE',
      description: 'PEM file with the authorities of etcd. With any of these files, etcd is asked over TLS.',
    }),
  ),
  etcdCertfile: setting.optional(
    filePath({ placeholder: 'FILE', description: 'PEM file with the certificate that is shown to etcd.' }),
  ),
  etcdKeyfile: setting.optional(
    filePath({ placeholder: 'FILE', description: 'PEM file with the key of that certificate.' }),
  ),
}

/** Undefined when objects are kept in the home. `name` is that of the server. */
export function etcdOf(values: setting.Values<typeof storeSettings>, name: string): EtcdSettings | undefined {
  const { store, etcdPrefix, etcdCafile: ca, etcdCertfile: cert, etcdKeyfile: key } = values
  if (store === undefined) {
    if ([etcdPrefix, ca, cert, key].every(value => value === undefined)) return undefined
    throw new UsageError('--etcd-prefix, --etcd-cafile, --etcd-certfile and --etcd-keyfile need --store')
  }
  if ((cert === undefined) !== (key === undefined)) {
    throw new UsageError('--etcd-certfile and --etcd-keyfile are given together or not at all')
  }
  const isEncrypted = ca !== undefined || cert !== undefined
  const prefix = etcdPrefix ?? `/isthmus/${name}`
  return {
    place: `${scheme}${store.join(',')}${prefix}`,
    servers: store.map(host => new URL(`${isEncrypted ? 'https' : 'http'}://${host}`)),
    prefix,
    // Read for each connection, so that files that were replaced are used.
    tls: () => ({
      ...(ca === undefined ? {} : { ca: readFileSync(ca) }),
      ...(cert === undefined ? {} : { cert: readFileSync(cert) }),
      ...(key === undefined ? {} : { key: readFileSync(key) }),
    }),
  }
}

/** `etcd://host:port,host:port`; the value is each `host:port`. */
function etcdServers(words: setting.Words): setting.Setting<readonly string[]> {
  const servers = setting.listOf(setting.address(words), maxServers)
  return {
    ...words,
    parse: value => {
      if (!value.startsWith(scheme)) throw new Error(`must be of the form ${scheme}host:port,host:port`)
      const addresses = servers.parse(value.slice(scheme.length)).map(address => new URL(address))
      const without = addresses.find(({ port }) => port === '')
      if (without !== undefined) throw new Error(`must name the port of ${without.hostname}`)
      return addresses.map(({ host }) => host)
    },
  }
}

/** A path with a slash in front and none at the end. */
function keyPrefix(words: setting.Words): setting.Setting<string> {
  return {
    ...words,
    parse: value => {
      if (/^(\/[\w.-]+)+$/.test(value) && value.length <= 200) return value
      throw new Error('must be a path such as /isthmus/hub')
    },
  }
}

/** The path of a file that is there. */
function filePath(words: setting.Words): setting.Setting<string> {
  const { parse } = setting.file(words)
  return {
    ...words,
    parse: path => {
      parse(path)
      return path
    },
  }
}
