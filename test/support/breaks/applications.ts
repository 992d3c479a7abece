import type { Break } from './break.ts'

/** Deliberate breaks of the promises about applications that were sent. */
export const applications: readonly Break[] = [
  {
    id: 'visitor-reads-applications',
    promise: 'nobody reads, changes or deletes an application with the public key',
    effect: 'A visitor reads applications',
    statements:
      'grant select on public.retreat_applications to anon; create policy open on public.retreat_applications for select to anon using (true);',
  },
  {
    id: 'visitor-claims-added-by',
    promise: 'consent that nobody gave',
    effect: 'A visitor applies without consent and says that an organiser added them',
    statements: 'grant insert (added_by) on public.retreat_applications to anon;',
  },
  {
    id: 'failure-tells-postgres-message',
    promise: 'an error reveals nothing of another row',
    effect: "The response to a failure of the server has PostgreSQL's message",
    declaration: 'httpError',
    find: 'code, signedIn ? unavailableToOrganisers : unavailable',
    replace: 'code, message',
  },
  {
    id: 'failed-transaction-counts-as-committed',
    promise: 'an acknowledged application is kept, once',
    effect: 'A transaction with a failed statement counts as committed',
    declaration: 'Connection',
    find: "command === 'ROLLBACK'",
    replace: "command === 'never'",
  },
  {
    id: 'webhook-replayable',
    promise: 'a delivery is not forged or replayed unnoticed',
    effect: 'The signature covers only the body, so anybody can replay it',
    declaration: 'deliver',
    find: '`${id}.${timestamp}.${body}`',
    replace: 'body',
  },
  {
    id: 'log-has-urls',
    promise: 'the log names no applicant',
    effect: 'The log has the URL of each request, and a visitor can write anything into a URL',
    declaration: 'logRequests',
    find: '{ method, routeOptions, log }',
    replace: '{ method, raw: routeOptions, log }',
  },
  {
    id: 'restore-brings-back-erased',
    promise: 'A restore erases them again by the list beside the backups',
    effect: 'A restore brings back erased applications',
    declaration: 'eraseAgain',
    find: 'erased.size === 0',
    replace: 'erased.size >= 0',
  },
  {
    id: 'page-has-secret-key',
    promise: 'no page shows a secret key of a project',
    effect: 'A page is built with a secret key',
    declaration: 'isSecret',
    find: "key.trim().startsWith('sb_secret_')",
    replace: 'false',
  },
  {
    id: 'repeat-stored-twice-after-begin',
    promise: 'no application is refused, lost or stored twice when a retreat begins',
    effect: 'An application that is sent again after a retreat began is stored twice',
    declaration: 'private.refuse_when_closed',
    find: "private.is_ahead(door.repeats_until, '1 hour')",
    replace: 'false',
  },
  {
    id: 'drafts-filled-behind-lock',
    promise: 'no application is refused, lost or stored twice when a retreat begins',
    effect: 'Applicants wait while drafts are filled in',
    declaration: 'public.desk_begin_edition',
    find: 'array(select draft from private.filled_drafts() as draft)',
    replace: "'{}'",
  },
]
