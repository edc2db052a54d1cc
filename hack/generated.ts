// The files that are derived from the kinds and the commands, and what they should hold.
import { customResourceDefinitions } from '../src/api/derive/crd.ts'
import { aggregatedRoles } from '../src/api/derive/rbac.ts'
import { kinds } from '../src/api/kinds/index.ts'
import { toYaml } from '../src/codec/yaml.ts'
import { apiPage, apiPageFile } from './api-page.ts'
import { conventionsPage, conventionsPageFile } from './conventions-page.ts'
import { flagsPage } from './flags-page.ts'
import { apiServices, memberRights, memberService } from './member-manifests.ts'

const notice = '# Written by `npm run gen` from src/api/kinds.\n'

const memberNotice = '# Written by `npm run gen` from hack/member-manifests.ts.\n'

function documents(manifests: readonly object[]): string {
  return manifests.map(toYaml).join('---\n')
}

/** Text by path. The list of kinds is not among them, since all others are derived from what it lists. */
export function generatedFiles(): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(
      customResourceDefinitions(kinds).map(crd => [
        `deploy/crds/${crd.metadata.name}.yaml`,
        notice + toYaml(crd),
      ]),
    ),
    [apiPageFile]: apiPage(),
    [conventionsPageFile]: conventionsPage(),
    'docs/flags.md': flagsPage(),
    'deploy/member/service.yaml': memberNotice + documents(memberService()),
    'deploy/member/apiservices.yaml': memberNotice + documents(apiServices(kinds)),
    'deploy/member/rbac.yaml': memberNotice + documents(memberRights(kinds)),
    'deploy/users/roles.yaml': notice + documents(aggregatedRoles(kinds)),
  }
}
