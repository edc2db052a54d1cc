/**
 * For servers that share their store: who has which address is known to each of them only after the fact, so they give out
 * none. Services without an address of their own are taken, and whatever has one keeps it.
 */
import { invalid } from '../../src/kernel/errors.ts'
import { invalidValue } from '../../src/kernel/field-error.ts'
import type { AdmissionPlugin } from '../contract.ts'
import { hasClusterIp, isHeadless, specOf, writesService } from './service-spec.ts'

const why = 'must be None: a server that shares its store with others gives no addresses to Services'

export function noClusterIpPlugin(): AdmissionPlugin {
  return {
    name: 'NoClusterIP',
    handles: writesService,
    async validate({ name, object, oldObject }) {
      if (object === undefined) return
      const spec = specOf(object)
      if (!hasClusterIp(spec) || isHeadless(spec)) return
      const held = oldObject === undefined ? undefined : specOf(oldObject).clusterIP
      if (held !== undefined && held === spec.clusterIP) return
      const problem = invalidValue('spec.clusterIP', spec.clusterIP ?? '', why)
      throw invalid({ group: '', kind: 'Service' }, name, [problem])
    },
  }
}
