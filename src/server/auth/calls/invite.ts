import type { FastifyInstance } from 'fastify'

import { trimmed } from '../../../application/blank.ts'
import { rightWords } from '../../../application/organiser-change.ts'
import { isDatabaseError } from '../../database/connection/connection.ts'
import type { Sql } from '../../database/connection/sql.ts'
import { HttpError } from '../../http/errors.ts'
import type { AuthContext } from '../context.ts'
import { countWithinLimit } from '../account-limits.ts'
import { emailOf, fieldsOf } from '../fields.ts'
import { deskLink } from '../mail/links.ts'
import { invitationMessage } from '../mail/messages.ts'
import { patientDelays } from '../mail/outgoing.ts'
import { inviteOrganiser } from '../manage-organisers.ts'
import { createLimit } from '../ip-rate-limits.ts'
import { invalid, tooManyRequests } from '../refusals.ts'
import { changeAs, requireSignedIn, type SignedIn } from '../sessions/signed-in.ts'

/**
 * Registers the call with which an organiser invites another, which only our desk makes. GoTrue's call of this name is for its
 * administrators. With a mail server, the invited person gets the link. Otherwise only the response has it.
 */
export function inviteCall(app: FastifyInstance, context: AuthContext): void {
  const { sql, keys, site, outgoing } = context

  app.post('/invite', { onRequest: createLimit(30, 5) }, async (request, reply) => {
    const caller = await requireSignedIn(request, sql, keys)
    const fields = fieldsOf(request, { email: 'text', name: 'text', is_reader: 'flag' })
    const { name, is_reader: isReader = false } = fields
    const { by, email, link, right } = await changeAs(sql, caller, async (transaction, current) => {
      const inviter = await requireAllRights(transaction, current, caller.claimedAal)
      const invited = emailOf(trimmed(fields.email))
      // A refused request is not counted: it sends no email.
      if (!(await countWithinLimit(transaction, current.account.id, 'invitations'))) throw tooManyRequests()
      const invitation = await inviteOrganiser(transaction, {
        email: invited,
        name,
        isReader,
        by: inviter.email,
      }).catch((error: unknown) => {
        // The name: the database's sentence says what is wrong with it.
        throw isDatabaseError(error) && error.code === '22023' ? invalid(error.message) : error
      })
      if (invitation === undefined)
        throw new HttpError(422, 'email_exists', 'This person is an organiser already.')
      return {
        by: inviter.shown,
        email: invited,
        link: deskLink(site(), { secret: invitation.secret, type: 'magiclink' }),
        right: rightWords(invitation.isReader),
      }
    })
    if (!outgoing.isOn) return { link }
    outgoing.after(reply, async () => [invitationMessage(email, by, right, link)], patientDelays)
    return { link: null }
  })
}

/**
 * Asks the database for the rights of a signed-in person, as each call of the desk does.
 *
 * @param aal The assurance level that their token claims. A token from before the second factor has no rights.
 * @returns The organiser's email, and how others read it: by the name, if there is one.
 * @throws {HttpError} if they are no organiser, or may not do everything.
 */
async function requireAllRights(transaction: Sql, { account, session }: SignedIn, aal: unknown) {
  const claims = JSON.stringify({ sub: account.id, session_id: session.id, aal })
  await transaction`select set_config('request.jwt.claims', ${claims}, true)`
  try {
    // The catalogue has no call that is made here, so readers are refused.
    const [inviter] = await transaction<[{ email: string; shown: string }]>`
      select email, private.author_shown(email, id) as shown from private.caller()`
    return inviter
  } catch (error) {
    if (isDatabaseError(error) && error.code === '42501')
      throw new HttpError(403, 'insufficient_rights', error.message, { cause: error })
    throw error
  }
}
