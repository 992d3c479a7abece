import type { Run } from '../database/lanes.ts'
import type { Afterwards } from './afterwards.ts'
import type { SigningKeys } from './keys.ts'
import type { MailTurns } from './mail-turns.ts'
import type { Mailer } from './mailer.ts'

/** What the calls of the sign-in act with. */
export interface AuthContext {
  /** Runs SQL as the schema's owner. */
  run: Run
  /** The same for what nobody waits for, on other connections, so that no answer waits for it either. */
  runLater: Run
  keys: SigningKeys
  /** None where no mail server is set. */
  mailer: Mailer | undefined
  /** The public address, which may have a path. */
  site: () => URL
  mailTurns: MailTurns
  afterwards: Afterwards
}
