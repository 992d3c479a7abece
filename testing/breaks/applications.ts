import type { Break } from './break.ts'

/** Applications: what holds of what somebody sent. */
export const applications: readonly Break[] = [
  {
    promise: 'nobody reads, changes or deletes an application with the public key',
    effect: 'A visitor reads applications',
    changedFile: 'supabase/schemas/24_rights.sql',
    find: 'revoke all on all tables in schema private from public, anon, authenticated;',
    replace: '',
    migration:
      'grant select on public.retreat_applications to anon; create policy open on public.retreat_applications for select to anon using (true);',
    testFile: 'src/server/rest/desk-rights.test.ts',
    testTitle:
      'on both ways to run the roles of the data interface may do what is listed here, and nothing else',
  },
  {
    promise: 'an error reveals nothing of another row',
    effect: 'A failure of the server is told in the words of PostgreSQL',
    changedFile: 'src/server/http/errors.ts',
    find: `return new HttpError(status, code, signedIn ? unavailableToOrganisers : unavailable, { cause: error })
  }
  if (error instanceof Error && 'statusCode'`,
    replace: `return new HttpError(status, code, message, { cause: error })
  }
  if (error instanceof Error && 'statusCode'`,
    testFile: 'src/server/http/errors.test.ts',
    testTitle: "a failure of the server has the server's own message, not PostgreSQL's",
  },
  {
    promise: 'an acknowledged application is kept, once',
    effect: 'A transaction of which a statement had failed counts as kept',
    changedFile: 'src/server/database/connection.ts',
    find: "command === 'ROLLBACK'",
    replace: "command === 'never'",
    testFile: 'src/server/database/pool.test.ts',
    testTitle: 'a transaction is all or nothing, and a part of it can fail alone',
  },
  {
    promise: 'a delivery is not forged or replayed unnoticed',
    effect: 'The signature is of the body alone, which anybody may send again',
    changedFile: 'src/server/deliveries/webhook.ts',
    find: 'sign(secret, `${id}.${timestamp}.${body}`)',
    replace: 'sign(secret, body)',
    testFile: 'src/server/deliveries/dispatcher.test.ts',
    testTitle: 'the signature is the one that the Standard Webhooks library makes',
  },
  {
    promise: 'the log names no applicant',
    effect: 'The log has the address of each request, into which a visitor can write anything',
    changedFile: 'src/server/app.ts',
    find: `({ method, routeOptions, log }, { statusCode, elapsedTime }, done) => {
    if (probes.includes(routeOptions.url)) return done()
    const route = routeOptions.url ?? 'none'`,
    replace: `({ method, routeOptions, log, url: route }, { statusCode, elapsedTime }, done) => {
    if (probes.includes(routeOptions.url)) return done()`,
    testFile: 'e2e/attacks/unwelcome.test.ts',
    testTitle: "neither the server's log nor the database's names an applicant or holds an answer",
  },
  {
    promise: 'A restore erases them again by the list beside the backups',
    effect: 'A restore brings back who was erased',
    changedFile: 'src/server/backups/restore.ts',
    find: `  if (erased.size === 0) return 0
`,
    replace: `  if (erased.size >= 0) return 0
`,
    testFile: 'e2e/commands/backup.test.ts',
    testTitle:
      'a restore of an automatic backup erases again everybody who was erased since, unless it is told not to',
  },
  {
    promise: 'no page shows a secret key of a project',
    effect: 'A page is built with a secret key',
    changedFile: 'src/settings/public-key.ts',
    find: `key.trim().startsWith('sb_secret_') || `,
    replace: '',
    testFile: 'src/settings/page-settings.test.ts',
    testTitle: 'a page is not built with the secret key %s, which the sentence does not show',
  },
]
