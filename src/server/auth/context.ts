import type { Sql } from '../database/sql.ts'
import type { SigningKeys } from './sessions/keys.ts'
import type { MailTurns } from './mail/turns.ts'
import type { Outgoing } from './mail/outgoing.ts'

/** The dependencies of the sign-in's calls. */
export interface AuthContext {
  /** Queries as the schema's owner. */
  sql: Sql
  /** The same on other connections, for background work that must not delay responses. */
  later: Sql
  keys: SigningKeys
  /** The public address, which may have a path. */
  site: () => URL
  mailTurns: MailTurns
  outgoing: Outgoing
  /** The bcrypt cost of a password. */
  passwordCost: number
}
