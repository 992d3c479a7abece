import type { Sql } from '../database/sql.ts'
import type { SigningKeys } from './sessions/keys.ts'
import type { MailTurns } from './mail/turns.ts'
import type { Outgoing } from './mail/outgoing.ts'

/** What the calls of the sign-in work with. */
export interface AuthContext {
  /** Asks as the schema's owner. */
  sql: Sql
  /** The same on other connections, for work that nobody waits for, so that no response waits for it. */
  later: Sql
  keys: SigningKeys
  /** The public address, which may have a path. */
  site: () => URL
  mailTurns: MailTurns
  outgoing: Outgoing
  /** How long a password takes, as bcrypt counts it. */
  passwordCost: number
}
