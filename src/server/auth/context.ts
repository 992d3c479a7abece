import type { Sql } from '../database/connection/sql.ts'
import type { SigningKeys } from './sessions/keys.ts'
import type { EmailRateLimit } from './mail/email-rate-limit.ts'
import type { Outgoing } from './mail/outgoing.ts'

/** The dependencies of the sign-in's calls. */
export interface AuthContext {
  /** Runs queries as the owner of the schema. */
  sql: Sql
  /** Runs queries as the owner of the schema, on connections of its own: background work must not delay responses. */
  backgroundSql: Sql
  keys: SigningKeys
  /** The site's public address, which may have a path. */
  site: () => URL
  emailRateLimit: EmailRateLimit
  outgoing: Outgoing
  /** The bcrypt cost of a password. */
  passwordCost: number
}
