import {
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  jwtVerify,
  SignJWT,
  type JWK,
  type JWTPayload,
} from 'jose'

import { cached } from '../../cached.ts'
import type { Sql } from '../../database/connection/sql.ts'

const algorithm = 'ES256'
/** The lifetime of an access token, in seconds. */
export const tokenLifetime = 3600
/** Milliseconds after which a server checks for a new signing key. */
const freshness = 30_000
/** Milliseconds between two searches for an unknown key. */
const retryInterval = 1_000

/** The keys that sign access tokens. They are in the database, so that all servers on it share them. */
export interface SigningKeys {
  /** Signs token claims. The token is valid for `tokenLifetime` from now. */
  sign(claims: JWTPayload): Promise<{ token: string; expiresAt: number }>
  /**
   * Verifies a token and returns its token claims.
   *
   * @throws if none of the keys signed the token, or it has expired or is not for signed-in people.
   */
  verify(token: string): Promise<JWTPayload>
  /** The public keys, in the format of RFC 7517. */
  published(): Promise<JWK[]>
}

interface LoadedKey {
  kid: string
  isActive: boolean
  /** Only the public key. */
  publishedJwk: JWK
  private: Awaited<ReturnType<typeof importJWK>>
  public: Awaited<ReturnType<typeof importJWK>>
}

/**
 * The signing keys of a database, which are read on first use.
 *
 * @param sql Runs queries as the owner of the schema.
 * @param now A monotonic clock in milliseconds.
 */
export function createSigningKeys(sql: Sql, now = () => performance.now()): SigningKeys {
  const loaded = cached(() => load(sql), { now })
  const find = async (kid: string | undefined) => {
    const matches = (key: LoadedKey) => key.kid === kid
    return (await loaded(freshness)).find(matches) ?? (await loaded(retryInterval)).find(matches)
  }
  return {
    async sign(claims) {
      const key = (await loaded(freshness)).find(({ isActive }) => isActive)
      if (key === undefined) throw new Error('there is no active signing key')
      const issuedAt = Math.floor(Date.now() / 1000)
      const expiresAt = issuedAt + tokenLifetime
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, kid: key.kid, typ: 'JWT' })
        .setIssuedAt(issuedAt)
        .setExpirationTime(expiresAt)
        .sign(key.private)
      return { token, expiresAt }
    },
    async verify(token) {
      const keyOf = async ({ kid }: { kid?: string }) => {
        const key = await find(kid)
        if (key === undefined) throw new errors.JWKSNoMatchingKey()
        return key.public
      }
      const { payload } = await jwtVerify(token, keyOf, {
        algorithms: [algorithm],
        audience: 'authenticated',
        requiredClaims: ['exp'],
      })
      return payload
    },
    async published() {
      return (await loaded(freshness)).map(({ publishedJwk }) => publishedJwk)
    },
  }
}

/**
 * Loads the keys, and creates one if none is active. A retired key stays valid for two hours: a server that has not noticed its
 * retirement may still sign tokens with it.
 */
async function load(sql: Sql): Promise<LoadedKey[]> {
  const read = () => sql<{ kid: string; active: boolean; jwk: JWK }[]>`
    select kid, retired_at is null as active, jwk from private.signing_keys
    where retired_at is null or retired_at > now() - interval '2 hours'
    order by created_at desc`
  let rows = await read()
  if (!rows.some(({ active }) => active)) {
    await addKey(sql)
    rows = await read()
  }
  return Promise.all(rows.map(({ kid, active, jwk }) => loadKey(kid, active, jwk)))
}

async function loadKey(kid: string, isActive: boolean, jwk: JWK): Promise<LoadedKey> {
  const { kty = '', crv = '', x = '', y = '' } = jwk
  const publicJwk: JWK = { kty, crv, x, y }
  return {
    kid,
    isActive,
    publishedJwk: { ...publicJwk, alg: algorithm, kid, use: 'sig', key_ops: ['verify'] },
    private: await importJWK(jwk, algorithm),
    public: await importJWK(publicJwk, algorithm),
  }
}

/** Creates the active key, unless another server has created one meanwhile. */
async function addKey(sql: Sql) {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  const jwk = await exportJWK(privateKey)
  await sql`
    insert into private.signing_keys (kid, jwk) values (${crypto.randomUUID()}, ${JSON.stringify(jwk)})
    on conflict do nothing`
}

/** Creates a new key, which signs from now on. Tokens of the old key stay valid until they expire. */
export async function replaceKey(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`update private.signing_keys set retired_at = now() where retired_at is null`
    await addKey(transaction)
    await transaction`delete from private.signing_keys where retired_at < now() - interval '1 day'`
  })
}
