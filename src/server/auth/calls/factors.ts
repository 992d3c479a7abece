import type { FastifyInstance, FastifyRequest } from 'fastify'

import { HttpError } from '../../http/errors.ts'
import type { Account } from '../accounts/accounts.ts'
import type { AuthContext } from '../context.ts'
import { fieldsOf } from '../fields.ts'
import { isUuid } from '../../../application/uuid.ts'
import { createLimit } from '../ip-rate-limits.ts'
import { issuerOf } from '../mail/links.ts'
import { changeMessage } from '../mail/messages.ts'
import { patientDelays } from '../mail/outgoing.ts'
import { invalid } from '../refusals.ts'
import {
  addChallenge,
  addFactor,
  removeFactor,
  unknownFactor,
  useFactorCode,
} from '../proofs/second-factor.ts'
import { tokensOf } from '../sessions/sessions.ts'
import { changeAs, requireSignedIn } from '../sessions/signed-in.ts'
import { newSecret } from '../proofs/totp.ts'

/** The most characters of a factor's name and of its issuer. The QR code has no room for a longer issuer. */
const maxNameLength = 200

/** Registers the calls for the second factor, a time-based code (TOTP): factors, challenge, verify. The desk makes all of them. */
export function factorCalls(app: FastifyInstance, context: AuthContext): void {
  const { sql, keys, site, outgoing } = context

  app.post('/factors', async (request) => {
    const caller = await requireSignedIn(request, sql, keys)
    const {
      factor_type: type,
      friendly_name: name,
      issuer,
    } = fieldsOf(request, {
      factor_type: 'text',
      friendly_name: 'text',
      issuer: 'text',
    })
    checkType(type)
    if (name.length > maxNameLength || issuer.length > maxNameLength) {
      throw invalid(`friendly_name and issuer cannot be longer than ${maxNameLength} characters`)
    }
    const { secret, uri, qrCode } = await newSecret(issuer || site().host, caller.account.email)
    const id = await changeAs(sql, caller, (transaction, current) =>
      addFactor(transaction, current, name, secret),
    )
    return { id, type: 'totp', friendly_name: name, totp: { qr_code: qrCode, secret, uri } }
  })

  app.post('/factors/:id/challenge', { onRequest: createLimit(15, 1) }, async (request) => {
    const caller = await requireSignedIn(request, sql, keys)
    const challenge = await changeAs(sql, caller, (transaction, { account }) =>
      addChallenge(transaction, requestedFactor(request, account).id, request.ip),
    )
    return { type: 'totp', ...challenge }
  })

  app.post('/factors/:id/verify', { onRequest: createLimit(15, 1) }, async (request, reply) => {
    const caller = await requireSignedIn(request, sql, keys)
    requestedFactor(request, caller.account)
    const { challenge_id: challengeId, code } = fieldsOf(request, { challenge_id: 'text', code: 'text' })
    if (!isUuid(challengeId)) {
      throw new HttpError(
        400,
        'bad_json',
        'Could not parse request body as JSON: challenge_id should be a UUID',
      )
    }
    if (code === '') throw invalid('Code needs to be non-empty')
    // The guess has to be counted. A thrown error would roll the count back.
    const { result, isNew } = await changeAs(sql, caller, async (transaction, { account, session }) => {
      const factor = requestedFactor(request, account)
      return {
        isNew: factor.status === 'unverified',
        result: await useFactorCode(transaction, {
          accountId: account.id,
          sessionId: session.id,
          factorId: factor.id,
          challengeId,
          code,
          ip: request.ip,
        }),
      }
    })
    if (result instanceof HttpError) throw result
    if (isNew)
      outgoing.after(reply, async () => [changeMessage(result.account.email, 'factor on')], patientDelays)
    return tokensOf(result, keys, issuerOf(site()))
  })

  app.delete('/factors/:id', async (request, reply) => {
    const caller = await requireSignedIn(request, sql, keys)
    const factor = await changeAs(sql, caller, async (transaction, { account, session }) => {
      const removed = requestedFactor(request, account)
      if (removed.status === 'verified' && session.aal === 'aal1') {
        throw new HttpError(422, 'insufficient_aal', 'AAL2 required to unenroll verified factor')
      }
      await removeFactor(transaction, removed.id)
      return { ...removed, email: account.email }
    })
    if (factor.status === 'verified') {
      outgoing.after(reply, async () => [changeMessage(factor.email, 'factor off')], patientDelays)
    }
    return { id: factor.id }
  })
}

function requestedFactor({ params }: FastifyRequest, { factors }: Account) {
  const { id } = params as { id: string }
  if (!isUuid(id)) throw invalid('factor_id must be an UUID', 404)
  const factor = factors.find((each) => each.id === id.toLowerCase())
  if (factor === undefined) throw unknownFactor()
  return factor
}

function checkType(type: string) {
  if (type === 'totp') return
  if (type === 'phone') {
    throw new HttpError(422, 'mfa_phone_enroll_not_enabled', 'MFA enroll is disabled for Phone')
  }
  if (type === 'webauthn') {
    throw new HttpError(422, 'mfa_webauthn_enroll_not_enabled', 'MFA enroll is disabled for WebAuthn')
  }
  throw invalid('factor_type needs to be totp, phone, or webauthn')
}
