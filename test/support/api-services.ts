import { type ApiService, apiServices } from '../../src/cluster/api-services.ts'

export const memberService = { namespace: 'isthmus-system', name: 'isthmus-member' }
export const served = ['v1beta1.multicluster.x-k8s.io', 'v1alpha1.multicluster.x-k8s.io']

/** Leads to the member unless told; without a Service it is a definition's. */
export function apiService(
  name: string,
  service: ApiService['spec']['service'] = memberService,
  labels: Readonly<Record<string, string>> = {},
): ApiService {
  const { apiVersion, kind } = apiServices
  return { apiVersion, kind, metadata: { name, labels }, spec: { service } }
}
