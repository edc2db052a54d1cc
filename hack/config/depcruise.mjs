/** One folder, one stage. Stages meet only in contract.ts and store-contract.ts (types) and in chain.ts / flow.ts / main.ts (wiring). */
const floor = '^src/(api|kernel|cluster|codec|ip)/'
const owner = (pkg, home) => ({
  name: `only-${home.replaceAll('/', '-')}-uses-${pkg}`,
  severity: 'error',
  from: { pathNot: `^(${home})/|^test/|^hack/` },
  to: { path: `(^|/)node_modules/${pkg}/` },
})
export default {
  forbidden: [
    {
      name: 'kernel-imports-nothing',
      severity: 'error',
      from: { path: '^src/kernel/' },
      to: { pathNot: '^src/kernel/', dependencyTypesNot: ['core'] },
    },
    {
      name: 'api-is-pure',
      severity: 'error',
      from: { path: '^src/api/' },
      to: { pathNot: '^src/(api|kernel|ip)/|node_modules/openapi-types' },
    },
    {
      name: 'stages-do-not-know-each-other',
      severity: 'error',
      from: { path: '^(apiservice|dns|src)/([^/]+)/', pathNot: '^src/roles/' },
      to: { path: '^(apiservice|dns|src)/[^/]+/', pathNot: ['^$1/$2/', floor] },
    },
    {
      name: 'stages-do-not-wire',
      severity: 'error',
      from: { path: '^(apiservice|dns|src)/[^/]+/', pathNot: '^src/roles/' },
      to: {
        path: '^(apiservice|dns|src)/[^/]+[.]ts$',
        pathNot: '^(apiservice|dns|src)/(store-)?contract[.]ts$',
      },
    },
    {
      name: 'roots-do-not-know-each-other',
      severity: 'error',
      from: { path: '^(apiservice|dns|src)/', pathNot: '^src/(main[.]ts$|roles/)' },
      to: { path: '^(apiservice|dns|src)/', pathNot: ['^$1/', floor] },
    },
    {
      name: 'product-never-imports-test-or-hack',
      severity: 'error',
      from: { path: '^(apiservice|dns|src)/' },
      to: { path: '^(test|hack)/' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    owner('fastify', 'apiservice/http'),
    owner('level', 'apiservice/store'),
    owner('lru-cache', 'apiservice/store'),
    owner('@grpc/grpc-js', 'apiservice/store/etcd'),
    owner('@grpc/proto-loader', 'apiservice/store/etcd'),
    owner('dns2', 'dns'),
    owner('@kubernetes/client-node', 'src/cluster'),
    owner('@peculiar/x509', 'src/identity'),
    owner('reflect-metadata', 'src/identity'),
    owner('jose', 'apiservice/authn'),
    owner('rotating-file-stream', 'apiservice/audit'),
    owner('ip-address', 'src/ip'),
    owner('yaml', 'src/codec'),
    owner('pino', 'src/telemetry'),
    owner('prom-client', 'src/telemetry'),
    owner('commander', 'src/roles'),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    includeOnly: '^(src|apiservice|dns|hack|test|node_modules)/',
  },
}
