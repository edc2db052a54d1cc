/** People by an OpenID provider: the flags of kube-apiserver, with their meanings and defaults. */
import { type OidcOptions, signingAlgs } from '../../apiservice/authn/oidc.ts'
import type { Clock } from '../kernel/clock.ts'
import { UsageError } from './command.ts'
import * as setting from './setting.ts'

export const oidcSettings = {
  oidcIssuerUrl: setting.optional(
    issuer({
      placeholder: 'URL',
      description: 'The OpenID provider whose ID tokens are taken; it names itself so, letter by letter.',
    }),
  ),
  oidcClientId: setting.optional(
    setting.text({
      placeholder: 'ID',
      description: 'The client that ID tokens must be made for; needed with --oidc-issuer-url.',
    }),
  ),
  oidcUsernameClaim: setting.text({
    placeholder: 'CLAIM',
    description: 'The claim that is the name of the user.',
    default: 'sub',
  }),
  oidcUsernamePrefix: setting.optional(
    setting.text({
      placeholder: 'TEXT',
      description:
        'What is put before names, - for nothing; unless told nothing for the claim email, else the URL of the issuer and #.',
    }),
  ),
  oidcGroupsClaim: setting.optional(
    setting.text({ placeholder: 'CLAIM', description: 'The claim that holds the groups of the user.' }),
  ),
  oidcGroupsPrefix: setting.optional(
    setting.text({ placeholder: 'TEXT', description: 'What is put before groups.' }),
  ),
  oidcRequiredClaim: setting.optional(
    setting.listOf(pair({ placeholder: 'CLAIM=VALUE,…', description: 'Claims that ID tokens must have.' })),
  ),
  oidcSigningAlgs: setting.listOf(
    setting.oneOf(
      {
        placeholder: 'ALG,…',
        description: `How ID tokens may be signed: ${signingAlgs.join(', ')}.`,
        default: 'RS256',
      },
      signingAlgs,
    ),
  ),
  oidcCaFile: setting.optional(
    setting.file({
      placeholder: 'FILE',
      description: 'PEM file with the authorities of the provider; those of the system unless told.',
    }),
  ),
}

type OidcValues = setting.Values<typeof oidcSettings>

/** Undefined when nobody is known by an OpenID provider. */
export function oidcOptions(values: OidcValues, clock: Clock): OidcOptions | undefined {
  const { oidcIssuerUrl, oidcClientId } = values
  if (oidcIssuerUrl === undefined && oidcClientId === undefined) return
  if (oidcIssuerUrl === undefined || oidcClientId === undefined) {
    throw new UsageError('--oidc-issuer-url and --oidc-client-id need each other: give both or neither')
  }
  return {
    issuer: oidcIssuerUrl,
    ca: values.oidcCaFile,
    clock,
    clientId: oidcClientId,
    usernameClaim: values.oidcUsernameClaim,
    usernamePrefix: values.oidcUsernamePrefix,
    groupsClaim: values.oidcGroupsClaim,
    groupsPrefix: values.oidcGroupsPrefix ?? '',
    requiredClaims: new Map(values.oidcRequiredClaim),
    signingAlgs: values.oidcSigningAlgs,
  }
}

function issuer(words: setting.Words): setting.Setting<string> {
  return {
    ...words,
    parse: value => {
      const url = URL.canParse(value) ? new URL(value) : undefined
      if (url?.protocol !== 'https:') throw new Error('must be a URL that begins with https://')
      if (url.search !== '' || url.hash !== '' || url.username !== '') {
        throw new Error('must be a URL without query, fragment and user')
      }
      return value
    },
  }
}

function pair(words: setting.Words): setting.Setting<readonly [string, string]> {
  return {
    ...words,
    parse: value => {
      const at = value.indexOf('=')
      if (at <= 0 || at === value.length - 1) throw new Error('must be of the form claim=value')
      return [value.slice(0, at), value.slice(at + 1)]
    },
  }
}
