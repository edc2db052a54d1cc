import { resourceOf } from '../../src/api/kind.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import { forbidden, notFound, type ResourceRef, type StatusError } from '../../src/kernel/errors.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { AdmissionAttributes, AdmissionPlugin } from '../contract.ts'
import type { Store, StoredObject } from '../store-contract.ts'

/** What is known of a namespace, or undefined when there is none. */
export interface NamespaceLookup {
  /** Must know of every namespace whose creation was answered before the call. */
  find(name: string, signal: AbortSignal): State | undefined | Promise<State | undefined>
}

type State = 'active' | 'terminating'

const namespaces: ResourceRef = { group: '', resource: 'namespaces' }

/** Namespaces that a cluster cannot do without. */
const immortal: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])

/**
 * Nothing is written into a namespace that is not there, nothing is created in one that is going away, and the system's
 * own stay (k8s.io/apiserver `NamespaceLifecycle`). Deletions pass: they are how a namespace is emptied.
 */
export function makeNamespaceLifecycle(lookup: NamespaceLookup): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles: attributes => isContent(attributes) || isImmortal(attributes),
    validate(attributes, signal) {
      if (!isContent(attributes))
        throw forbidden(namespaces, attributes.name, 'this namespace may not be deleted')
      const state = lookup.find(attributes.namespace, signal)
      return state instanceof Promise
        ? state.then(found => refuseIn(found, attributes))
        : refuseIn(state, attributes)
    },
  }
}

/** Throws 404 and 403. */
function refuseIn(state: State | undefined, attributes: AdmissionAttributes): void {
  if (state === undefined) throw notFound(namespaces, attributes.namespace)
  if (state === 'terminating' && attributes.operation === 'CREATE') throw terminating(attributes)
}

function isContent({ operation, served, namespace }: AdmissionAttributes): boolean {
  return operation !== 'DELETE' && namespace !== '' && served.kind.storage === 'stored'
}

function isImmortal({ operation, served, name }: AdmissionAttributes): boolean {
  const { group, plural } = served.kind
  return (
    operation === 'DELETE' &&
    group === namespaces.group &&
    plural === namespaces.resource &&
    immortal.has(name)
  )
}

function terminating({ served, namespace, name }: AdmissionAttributes): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`
  return forbidden(resourceOf(served.kind), name, why, [
    {
      reason: 'NamespaceTerminating',
      message: `namespace ${namespace} is being terminated`,
      field: 'metadata.namespace',
    },
  ])
}

/** Namespaces as this server stores them. Each version of one is looked into once. */
export function storedNamespaces(store: Pick<Store, 'get'>): NamespaceLookup {
  return {
    find(name) {
      const stored = store.get({ resource: namespaces.resource, namespace: '', name })
      return stored instanceof Promise
        ? stored.then(found => found && stateOf(found))
        : stored && stateOf(stored)
    },
  }
}

const stateOf = madeOnce((stored: StoredObject): State => {
  const { metadata } = decodeBody('v1', 'Namespace', stored)
  return metadata.deletionTimestamp === undefined ? 'active' : 'terminating'
})
