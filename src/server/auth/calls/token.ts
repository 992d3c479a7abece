import type { FastifyInstance, FastifyRequest } from 'fastify'

import { HttpError } from '../../http/errors.ts'
import type { AuthContext } from '../context.ts'
import { fieldsOf } from '../fields.ts'
import { exchange } from '../proofs/pkce.ts'
import { hasSecondFactor } from '../accounts/accounts.ts'
import { countPasswordTry } from '../accounts/password-tries.ts'
import { isPassword, weaknessOf } from '../accounts/passwords.ts'
import { createLimit } from '../ip-rate-limits.ts'
import { issuerOf } from '../mail/links.ts'
import { invalid, phoneIsOff, tooManyRequests } from '../refusals.ts'
import { openSession, refresh, tokensOf, type Grant } from '../sessions/sessions.ts'
import { changeAs, requireSignedIn } from '../sessions/signed-in.ts'

/**
 * Registers the calls that begin, prolong and end a session: token, logout. The desk makes them. Only the grant `pkce` is for other
 * clients of GoTrue.
 */
export function tokenCalls(app: FastifyInstance, context: AuthContext): void {
  const { sql, keys, site } = context
  const respond = (grant: Grant) => tokensOf(grant, keys, issuerOf(site()))

  app.post('/token', { onRequest: createLimit(150, 5) }, async (request) => {
    const { grant_type: type } = request.query as Record<string, unknown>
    if (type === 'password') {
      const { grant, weakness } = await signInByPassword(context, request)
      return { ...(await respond(grant)), weak_password: weakness }
    }
    if (type === 'refresh_token') {
      return respond(await refresh(sql, fieldsOf(request, { refresh_token: 'text' }).refresh_token))
    }
    if (type === 'pkce') {
      const fields = fieldsOf(request, { auth_code: 'text', code_verifier: 'text' })
      const grant = await exchange(sql, fields.auth_code, fields.code_verifier)
      return respond(grant)
    }
    throw new HttpError(400, 'invalid_credentials', 'unsupported_grant_type')
  })

  app.post('/logout', async (request, reply) => {
    const caller = await requireSignedIn(request, sql, keys)
    const { scope: requestedScope } = request.query as Record<string, unknown>
    const scope = requestedScope || 'global'
    if (scope !== 'global' && scope !== 'local' && scope !== 'others') {
      throw invalid(`Unsupported logout scope "${typeof scope === 'string' ? scope : ''}"`)
    }
    await changeAs(sql, caller, async (transaction, { account, session }) => {
      // An intruder who only reads an organiser's email must not end the organiser's other sessions.
      const lacksSecondFactor = hasSecondFactor(account) && session.aal === 'aal1'
      if (lacksSecondFactor && scope === 'others') {
        throw new HttpError(403, 'insufficient_aal', 'AAL2 required to sign out other sessions')
      }
      await transaction`
        delete from auth.sessions where user_id = ${account.id} and case ${lacksSecondFactor ? 'local' : scope}::text
          when 'local' then id = ${session.id} when 'others' then id <> ${session.id} else true end`
    })
    return reply.code(204).send()
  })
}

/**
 * Signs in with a password. Responds in the same way and time to an unknown address, an account without a password, and a
 * wrong password. After too many tries, even the right password is refused; codes and links still work. The result says what makes
 * the password weak, if something does.
 */
async function signInByPassword({ sql, passwordCost }: AuthContext, request: FastifyRequest) {
  const { email, phone, password } = fieldsOf(request, { email: 'text', phone: 'text', password: 'text' })
  if (email !== '' && phone !== '') {
    throw invalid('Only an email address or phone number should be provided on login.')
  }
  if (phone !== '') throw phoneIsOff('Phone logins are disabled', 422)
  if (email === '') throw invalid('missing email or phone')
  const address = email.toLowerCase()
  if (!(await countPasswordTry(sql, address))) throw tooManyRequests()
  const [account] = await sql<{ id: string; encrypted_password: string | null }[]>`
      select id, encrypted_password from auth.users where email = ${address}`
  const stored = account?.encrypted_password
  if (
    !(await isPassword(password, stored, 'stranger', passwordCost)) ||
    account === undefined ||
    stored == null
  ) {
    throw wrongCredentials()
  }
  const grant = await sql.begin(async (transaction) => {
    // The password may have changed during the comparison.
    const [row] = await transaction`
        select from auth.users where id = ${account.id} and encrypted_password = ${stored} for update`
    return row && openSession(transaction, account.id, 'password')
  })
  if (grant === undefined) throw wrongCredentials()
  return { grant, weakness: weaknessOf(password) }
}

function wrongCredentials() {
  return new HttpError(400, 'invalid_credentials', 'Invalid login credentials')
}
