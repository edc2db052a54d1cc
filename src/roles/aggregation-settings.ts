/** How a server of a cluster is told of the kube-apiserver that it stands behind. */
import type { AggregationOptions } from './aggregated-server.ts'
import { flagName, UsageError } from './command.ts'
import * as setting from './setting.ts'

const kubeconfig = (description: string): setting.Setting<string | undefined> =>
  setting.optional(setting.text({ placeholder: 'FILE', description }))

export const aggregation = {
  kubeconfig: kubeconfig(
    'Stands behind the kube-apiserver of this kubeconfig, or with in-cluster behind that of the pod, and leaves the core kinds, users and rights to it. Without it the server keeps them itself.',
  ),
  authenticationKubeconfig: kubeconfig(
    'Asks this kube-apiserver whom to believe and whose a token is; that of --kubeconfig unless told.',
  ),
  authorizationKubeconfig: kubeconfig(
    'Asks this kube-apiserver who may do what; that of --kubeconfig unless told.',
  ),
  service: setting.service({
    placeholder: 'NAMESPACE/NAME',
    description: 'Behind a kube-apiserver: the Service that the APIServices name.',
    default: 'isthmus-system/isthmus-member',
  }),
  tlsCertFile: setting.optional(
    setting.text({
      placeholder: 'FILE',
      description:
        'Behind a kube-apiserver: the serving certificate, PEM, read again when it changes. Without it the server makes its own and keeps the caBundle of its APIServices.',
    }),
  ),
  tlsPrivateKeyFile: setting.optional(
    setting.text({ placeholder: 'FILE', description: 'The key of --tls-cert-file, PEM.' }),
  ),
}

/** Undefined when there is no kube-apiserver. */
export function aggregationOf(values: setting.Values<typeof aggregation>): AggregationOptions | undefined {
  const { authenticationKubeconfig, authorizationKubeconfig, service, tlsCertFile, tlsPrivateKeyFile } =
    values
  if ((tlsCertFile === undefined) !== (tlsPrivateKeyFile === undefined)) {
    throw new UsageError('--tls-cert-file and --tls-private-key-file are given together or not at all')
  }
  if (values.kubeconfig === undefined) {
    const alone = { authenticationKubeconfig, authorizationKubeconfig, tlsCertFile }
    const [unusable] = Object.entries(alone).flatMap(([key, value]) =>
      value === undefined ? [] : [flagName(key)],
    )
    if (unusable === undefined) return undefined
    throw new UsageError(`--${unusable} is for a server behind a kube-apiserver: give --kubeconfig as well`)
  }
  const certificate =
    tlsCertFile === undefined || tlsPrivateKeyFile === undefined
      ? undefined
      : { certificate: tlsCertFile, key: tlsPrivateKeyFile }
  return {
    kubeconfig: values.kubeconfig,
    authenticationKubeconfig,
    authorizationKubeconfig,
    service,
    certificate,
  }
}
