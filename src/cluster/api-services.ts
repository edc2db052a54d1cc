/** APIServices, by which a kube-apiserver knows who serves a version of a group. */
import type { ObjectMeta } from '../api/meta.ts'
import type { Resource } from './cluster.ts'

export type ServiceName = { readonly namespace: string; readonly name: string }

export type ApiService = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly spec: {
    readonly service?: { readonly namespace?: string; readonly name?: string } | null
    readonly caBundle?: string
    readonly insecureSkipTLSVerify?: boolean
  }
}

export const apiServices: Resource<ApiService> = {
  group: 'apiregistration.k8s.io',
  version: 'v1',
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  plural: 'apiservices',
  namespaced: false,
}

export function isServedBy({ spec }: ApiService, { namespace, name }: ServiceName): boolean {
  return spec.service?.namespace === namespace && spec.service.name === name
}

/** By kube-apiserver itself, because a CustomResourceDefinition defines it. */
export function isServedByDefinition({ spec }: ApiService): boolean {
  return spec.service === undefined || spec.service === null
}
