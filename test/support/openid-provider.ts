import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'
import { type HttpsServer, httpsServer, sendJson } from './https-server.ts'

export type OpenIdProvider = {
  readonly issuer: string
  readonly server: HttpsServer
  /** What it says of itself; tests may change it. */
  readonly about: { issuer: string; jwks_uri: string }
  /** A token that carries these claims and nothing else. */
  token(claims: JWTPayload, options?: { readonly kid?: string; readonly alg?: string }): Promise<string>
  /** Signs with a new key from now on, which it calls `kid`. The keys before are not shown any more. */
  rotate(kid: string, alg?: string): Promise<void>
  /** Answers 500 from now on, or no longer. */
  failing: boolean
  close(): Promise<void>
}

/** An OpenID provider as far as those need it who check its tokens: HTTPS, discovery, keys. */
export async function openIdProvider(): Promise<OpenIdProvider> {
  let shown: readonly JWK[] = []
  let current = await keyOf('one', 'RS256')
  const server = await httpsServer((request, response) => {
    if (provider.failing) return sendJson(response, 500, {})
    if (request.url === '/realm/.well-known/openid-configuration')
      return sendJson(response, 200, provider.about)
    if (request.url === '/realm/keys') return sendJson(response, 200, { keys: shown })
    sendJson(response, 404, {})
  })
  shown = [current.jwk]
  const issuer = `${server.url}/realm`
  const provider: OpenIdProvider = {
    issuer,
    server,
    about: { issuer, jwks_uri: `${issuer}/keys` },
    failing: false,
    token: (claims, { kid = current.kid, alg = current.alg } = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(current.privateKey),
    async rotate(kid, alg = 'RS256') {
      current = await keyOf(kid, alg)
      shown = [current.jwk]
    },
    close: () => server.close(),
  }
  return provider
}

async function keyOf(kid: string, alg: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}
