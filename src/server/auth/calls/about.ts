import type { FastifyInstance } from 'fastify'

import { HttpError } from '../../http/errors.ts'
import type { AuthContext } from '../context.ts'
import { fieldsOf } from '../fields.ts'
import { createLimit } from '../ip-rate-limits.ts'
import { requireSignedIn } from '../sessions/signed-in.ts'

/** The ways to sign in that GoTrue knows besides email. None is available here. */
const otherProviders =
  'anonymous_users apple azure bitbucket discord facebook snapchat figma fly github gitlab google keycloak kakao linkedin linkedin_oidc notion spotify slack slack_oidc workos twitch twitter phone zoom'

/**
 * Registers the calls that describe the sign-in, and those that it always refuses: signing up, SAML and linking identities. The desk
 * makes none of them: they are for other clients of GoTrue.
 */
export function aboutCalls(app: FastifyInstance, { sql, keys, outgoing }: AuthContext): void {
  app.get('/health', () => ({
    version: 'v2',
    name: 'GoTrue',
    description: 'The sign-in of Unplugged., compatible with GoTrue',
  }))

  app.get('/settings', () => ({
    external: {
      ...Object.fromEntries(otherProviders.split(' ').map((name) => [name, false])),
      email: outgoing.isOn,
    },
    disable_signup: true,
    mailer_autoconfirm: false,
    phone_autoconfirm: false,
    sms_provider: '',
    saml_enabled: false,
    saml_private_key_next_configured: false,
    passkeys_enabled: false,
  }))

  app.get('/.well-known/jwks.json', async (_request, reply) => {
    void reply.header('cache-control', 'public, max-age=600')
    return { keys: await keys.published() }
  })

  app.post('/signup', { onRequest: createLimit(30, 5) }, (request) => {
    const { email, phone } = fieldsOf(request, {
      email: 'text',
      phone: 'text',
      password: 'text',
      data: 'object',
    })
    if (email === '' && phone === '') {
      throw new HttpError(422, 'anonymous_provider_disabled', 'Anonymous sign-ins are disabled')
    }
    throw new HttpError(422, 'signup_disabled', 'Signups not allowed for this instance')
  })

  app.post('/sso', { onRequest: createLimit(30, 5) }, () => {
    throw new HttpError(404, 'saml_provider_disabled', 'SAML 2.0 is disabled')
  })

  for (const [method, url] of [
    ['GET', '/user/identities/authorize'],
    ['DELETE', '/user/identities/:id'],
  ] as const) {
    app.route({
      method,
      url,
      handler: async (request) => {
        await requireSignedIn(request, sql, keys)
        throw new HttpError(404, 'manual_linking_disabled', 'Manual linking is disabled')
      },
    })
  }
}
