import type { Break } from './break.ts'

/** Applications: what holds of what somebody sent. */
export const applications: readonly Break[] = [
  {
    promise: 'nobody reads, changes or deletes an application with the public key',
    broken: 'A visitor reads applications',
    file: 'supabase/schemas/24_rights.sql',
    find: 'revoke all on all tables in schema private from public, anon, authenticated;',
    replace: '',
    migration:
      'grant select on public.retreat_applications to anon; create policy open on public.retreat_applications for select to anon using (true);',
    test: 'src/server/rest/desk-rights.test.ts',
    name: 'on both ways to run the roles of the data interface may do what is listed here, and nothing else',
  },
  {
    promise: 'an error reveals nothing of another row',
    broken: 'A failure of the server is told in the words of PostgreSQL',
    file: 'src/server/http/errors.ts',
    find: `return new HttpError(status, code, signedIn ? unavailableToOrganisers : unavailable, { cause: error })
  }
  if (error instanceof Error && 'statusCode'`,
    replace: `return new HttpError(status, code, message, { cause: error })
  }
  if (error instanceof Error && 'statusCode'`,
    test: 'src/server/http/errors.test.ts',
    name: "a failure of the server has the server's own message, not PostgreSQL's",
  },
  {
    promise: 'an acknowledged application is kept, once',
    broken: 'A transaction of which a statement had failed counts as kept',
    file: 'src/server/database/connection.ts',
    find: "command === 'ROLLBACK'",
    replace: "command === 'never'",
    test: 'src/server/database/pool.test.ts',
    name: 'a transaction is all or nothing, and a part of it can fail alone',
  },
  {
    promise: 'a delivery is not forged or replayed unnoticed',
    broken: 'The signature is of the body alone, which anybody may send again',
    file: 'src/server/deliveries/webhook.ts',
    find: 'sign(secret, `${id}.${timestamp}.${body}`)',
    replace: 'sign(secret, body)',
    test: 'src/server/deliveries/dispatcher.test.ts',
    name: 'the signature is the one that the Standard Webhooks library makes',
  },
  {
    promise: 'the log names no applicant',
    broken: 'The log has the address of each request, into which a visitor can write anything',
    file: 'src/server/app.ts',
    find: `({ method, routeOptions, log }, { statusCode, elapsedTime }, done) => {
    if (probes.includes(routeOptions.url)) return done()
    const route = routeOptions.url ?? 'none'`,
    replace: `({ method, routeOptions, log, url: route }, { statusCode, elapsedTime }, done) => {
    if (probes.includes(routeOptions.url)) return done()`,
    test: 'e2e/attacks/unwelcome.test.ts',
    name: "neither the server's log nor the database's names an applicant or holds an answer",
  },
  {
    promise: 'A restore erases them again by the list beside the backups',
    broken: 'A restore brings back who was erased',
    file: 'src/server/backups/restore.ts',
    find: `  if (erased.size === 0) return 0
`,
    replace: `  if (erased.size >= 0) return 0
`,
    test: 'e2e/commands/backup.test.ts',
    name: 'a restore of an automatic backup erases again everybody who was erased since, unless it is told not to',
  },
  {
    promise: 'no page shows a secret key of a project',
    broken: 'A page is built with a secret key',
    file: 'src/settings/public-key.ts',
    find: `key.trim().startsWith('sb_secret_') || `,
    replace: '',
    test: 'src/settings/page-settings.test.ts',
    name: 'a page is not built with the secret key %s, which the sentence does not show',
  },
]
