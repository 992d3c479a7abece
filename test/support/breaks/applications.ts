import type { Break } from './break.ts'

/** Deliberate breaks of the promises about applications that were sent. */
export const applications: readonly Break[] = [
  {
    id: 'visitor-reads-applications',
    promise: 'nobody reads, changes or deletes an application with the public key',
    effect: 'A visitor reads applications',
    changedFile: 'supabase/schemas/24_rights.sql',
    find: 'revoke all on all tables in schema private from public, anon, authenticated;',
    replace: '',
    migration:
      'grant select on public.retreat_applications to anon; create policy open on public.retreat_applications for select to anon using (true);',
  },
  {
    id: 'failure-tells-postgres-message',
    promise: 'an error reveals nothing of another row',
    effect: "The response to a failure of the server has PostgreSQL's message",
    changedFile: 'src/server/http/errors.ts',
    find: `return new HttpError(status, code, signedIn ? unavailableToOrganisers : unavailable, { cause: error })
  }
  if (error instanceof Error && 'statusCode'`,
    replace: `return new HttpError(status, code, message, { cause: error })
  }
  if (error instanceof Error && 'statusCode'`,
  },
  {
    id: 'failed-transaction-counts-as-committed',
    promise: 'an acknowledged application is kept, once',
    effect: 'A transaction with a failed statement counts as committed',
    changedFile: 'src/server/database/connection.ts',
    find: "command === 'ROLLBACK'",
    replace: "command === 'never'",
  },
  {
    id: 'webhook-replayable',
    promise: 'a delivery is not forged or replayed unnoticed',
    effect: 'The signature covers only the body, so anybody can replay it',
    changedFile: 'src/server/deliveries/webhook.ts',
    find: 'sign(secret, `${id}.${timestamp}.${body}`)',
    replace: 'sign(secret, body)',
  },
  {
    id: 'log-has-urls',
    promise: 'the log names no applicant',
    effect: 'The log has the URL of each request, and a visitor can write anything into a URL',
    changedFile: 'src/server/app.ts',
    find: `({ method, routeOptions, log }, { statusCode, elapsedTime }, done) => {
    if (probes.includes(routeOptions.url)) return done()
    const route = routeOptions.url ?? 'none'`,
    replace: `({ method, routeOptions, log, url: route }, { statusCode, elapsedTime }, done) => {
    if (probes.includes(routeOptions.url)) return done()`,
  },
  {
    id: 'restore-brings-back-erased',
    promise: 'A restore erases them again by the list beside the backups',
    effect: 'A restore brings back erased applications',
    changedFile: 'src/server/backups/restore.ts',
    find: `  if (erased.size === 0) return 0
`,
    replace: `  if (erased.size >= 0) return 0
`,
  },
  {
    id: 'page-has-secret-key',
    promise: 'no page shows a secret key of a project',
    effect: 'A page is built with a secret key',
    changedFile: 'src/settings/public-key.ts',
    find: `key.trim().startsWith('sb_secret_') || `,
    replace: '',
  },
  {
    id: 'repeat-stored-twice-after-begin',
    promise: 'no application is refused, lost or stored twice when a retreat begins',
    effect: 'An application that is sent again after a retreat began is stored twice',
    changedFile: 'supabase/schemas/08_door.sql',
    find: "if door.repeats_until > now() and door.repeats_until <= clock_timestamp() + interval '1 hour' then",
    replace: 'if false then',
  },
  {
    id: 'drafts-filled-behind-lock',
    promise: 'no application is refused, lost or stored twice when a retreat begins',
    effect: 'Applicants wait while drafts are filled in',
    changedFile: 'supabase/schemas/23_editions.sql',
    find: 'drafts := array(select draft from private.filled_drafts() as draft)',
    replace: "drafts := '{}'",
  },
]
