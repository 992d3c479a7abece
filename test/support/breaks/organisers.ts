import type { Break } from './break.ts'

/** Deliberate breaks of the promises about who can act as an organiser, and with which rights. */
export const organisers: readonly Break[] = [
  {
    id: 'anybody-is-organiser',
    promise: 'only an organiser acts as one',
    effect: 'Everybody who signs in is an organiser',
    changedFile: 'supabase/schemas/03_organisers.sql',
    find: 'exists (select from private.organisers where account_id = auth.uid())',
    replace: 'auth.uid() is not null',
  },
  {
    id: 'anybody-reads-private-table',
    promise: 'only an organiser acts as one',
    effect: 'Everybody who signs in reads a private table',
    changedFile: 'supabase/schemas/24_rights.sql',
    find: 'revoke all on schema private from public, anon, authenticated;',
    replace: '',
    migration:
      'grant usage on schema private to authenticated; grant select on private.statuses to authenticated;',
  },
  {
    id: 'private-function-executable',
    promise: 'only an organiser acts as one',
    effect: 'A new function in private may be executed by everybody',
    changedFile: 'supabase/schemas/24_rights.sql',
    find: 'revoke all on all functions in schema private from public, anon, authenticated;',
    replace: '',
    migration: 'create function private.forgotten() returns integer language sql return 1;',
  },
  {
    id: 'superuser-owns-objects',
    promise: 'no function that anybody may call has the rights of a superuser',
    effect: 'Objects that the superuser creates keep the superuser as their owner',
    changedFile: 'src/server/database/owner.ts',
    find: "await transaction.unsafe(others.map(({ statement }) => statement).join('; '))",
    replace: '',
  },
  {
    id: 'owner-may-create-roles',
    promise: 'no function that anybody may call has the rights of a superuser',
    effect: 'The role that owns all our objects may create roles',
    changedFile: 'src/server/database/owner.ts',
    find: 'nologin noinherit`',
    replace: 'nologin noinherit createrole`',
  },
  {
    id: 'marks-seen-after-taking-back',
    promise:
      "no organiser gets another's mark, or learns that there is one, before their own mark or a decision",
    effect: 'An organiser who took their mark back sees the marks of others',
    changedFile: 'supabase/schemas/05_marks.sql',
    find: 'own.account_id = account and own.mark is not null',
    replace: 'own.account_id = account',
  },
  {
    id: 'anybody-adds-note',
    promise: "each function that the API's roles may execute asks first",
    effect: 'Every caller can add a note',
    changedFile: 'supabase/schemas/05_decisions.sql',
    find: `create function public.desk_note(act uuid, application uuid, note text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := private.caller();`,
    replace: `create function public.desk_note(act uuid, application uuid, note text) returns jsonb
  language plpgsql security definer set search_path = ''
as $$
declare
  me record := (select nobody from (select '' as email, false as blind) as nobody);`,
  },
  {
    id: 'second-factor-not-asked',
    promise: "each function that the API's roles may execute asks first",
    effect: 'A session without the second factor may call the functions',
    changedFile: 'supabase/schemas/03_organisers.sql',
    find: "and (not has_factor or (coalesce(aal::text, '') = 'aal2' and coalesce(claims ->> 'aal', '') = 'aal2'))",
    replace: '',
  },
  {
    id: 'outdated-decision-saved',
    promise: 'a decision is not overwritten unseen, and one that is shown as saved is saved',
    effect: 'A decision that was made on an outdated status is saved',
    changedFile: 'supabase/schemas/05_decisions.sql',
    find: 'if decision.version is distinct from current_status.version then',
    replace: 'if decision.version > current_status.version then',
  },
  {
    id: 'repeated-decision-made-twice',
    promise: 'a decision is not overwritten unseen, and one that is shown as saved is saved',
    effect: 'A decision that is sent twice is made twice',
    changedFile: 'supabase/schemas/05_decisions.sql',
    find: "not private.begin_act(act, 'desk_decide', decisions::text)",
    replace: 'false',
  },
  {
    id: 'blind-search-finds-name',
    promise: 'a blind reader gets none of the five hidden answers from any function',
    effect: 'A blind reader finds an application by a rare name',
    changedFile: 'supabase/schemas/04_search.sql',
    find: 'where id = any (hits) and coalesce(',
    replace: 'where id = any (hits) or coalesce(',
  },
  {
    id: 'linkedin-lookalike-linked',
    promise:
      'form answers are text, and become a link only if they are an email address, a phone number or a page of LinkedIn',
    effect: 'A link leads to a site whose domain only ends in linkedin.com',
    changedFile: 'src/pages/desk/kit/contact-links.ts',
    find: '/^(?:[a-z\\d-]+\\.)*linkedin\\.com$/',
    replace: '/linkedin\\.com$/',
  },
  {
    id: 'search-in-url',
    promise: 'no log contains a searched email',
    effect: 'A searched text is in a URL that is sent to a server',
    changedFile: 'src/pages/desk/kit/route.ts',
    find: 'return `#/${queryOf(route.filters)}`',
    replace: "return queryOf(route.filters) || '#/'",
  },
  {
    id: 'ended-session-accepted',
    promise: 'removing an account or a session ends its tokens at once',
    effect: 'The token of an ended session is accepted until it expires',
    changedFile: 'supabase/schemas/03_organisers.sql',
    find: "where id = (claims ->> 'session_id')::uuid and user_id = auth.uid()",
    replace: 'where true',
  },
  {
    id: 'account-queried-before-response',
    promise: 'no response reveals who has an account',
    effect: 'The account is looked up before the response is sent',
    changedFile: 'src/server/auth/calls/emails.ts',
    find: `    outgoing.after(reply, async () => {
      const mail = await backgroundSql.begin((transaction) =>
        signInEmail(transaction, site(), email, occasion, emailRequest),
      )
`,
    replace: `    const mail = await backgroundSql.begin((transaction) =>
      signInEmail(transaction, site(), email, occasion, emailRequest),
    )
    outgoing.after(reply, async () => {
`,
  },
  {
    id: 'code-tried-without-limit',
    promise: 'a code is not guessed',
    effect: 'A code is still accepted after five wrong tries',
    changedFile: 'src/server/auth/proofs/one-time.ts',
    find: 'const maxTries = 5',
    replace: 'const maxTries = 50',
  },
  {
    id: 'password-tried-without-limit',
    promise: 'a password is not guessed',
    effect: 'Passwords for an email address are compared without a limit',
    changedFile: 'src/server/auth/accounts/password-tries.ts',
    find: '<= limit.maxTries',
    replace: '<= 1e9',
  },
  {
    id: 'authenticator-code-accepted-twice',
    promise: 'a second factor is not guessed, or used twice',
    effect: 'A code of an authenticator is accepted twice',
    changedFile: 'src/server/auth/proofs/second-factor.ts',
    find: 'step === undefined || step <= factor.last_step',
    replace: 'step === undefined',
  },
  {
    id: 'old-refresh-token-accepted',
    promise: 'a stolen refresh token is found out',
    effect: 'A refresh token that was used long ago is accepted again',
    changedFile: 'src/server/auth/sessions/sessions.ts',
    find: '(behind > 1 && !row.is_recent)',
    replace: 'false',
  },
  {
    id: 'foreign-audience-accepted',
    promise: 'tokens are not forged',
    effect: 'A token for another audience opens the desk',
    changedFile: 'src/server/auth/sessions/keys.ts',
    find: `        audience: 'authenticated',
`,
    replace: '',
  },
  {
    id: 'link-leads-anywhere',
    promise: 'links lead nowhere else',
    effect: 'A link leads to any site that a request names',
    changedFile: 'src/server/auth/mail/links.ts',
    find: 'const isSite = target.origin === site.origin ||',
    replace: 'const isSite = target.protocol === site.protocol ||',
  },
  {
    id: 'sign-in-link-leads-to-other-program',
    promise: 'links lead nowhere else',
    effect: 'A sign-in link leads to another program on the port',
    changedFile: 'src/cli/commands/organisers.ts',
    find: `if (problem !== undefined) throw`,
    replace: `if (isNaN(0)) throw`,
  },
  {
    id: 'call-sent-as-next-person',
    promise: 'nobody acts as another without knowing',
    effect: "A call of one person is sent with the next person's token",
    changedFile: 'src/client/session.ts',
    find: `      if (session?.user.id !== account) throw new SignedOutError()
`,
    replace: `      if (session === null) throw new SignedOutError()
`,
  },
  {
    id: 'password-changed-without-second-factor',
    promise: "an intruder in the mailbox alone ends nobody's sessions, and changes nothing unseen",
    effect: 'A session without the second factor changes the password',
    changedFile: 'src/server/auth/calls/user.ts',
    find: 'if (isGuarded) refuseLowAal(current)',
    replace: 'if (!isGuarded) refuseLowAal(current)',
  },
  {
    id: 'sign-in-log-quotes-mail-server',
    promise: 'the log holds no code, token, password or address of an organiser',
    effect: "The log has the mail server's reply, which quotes the address",
    changedFile: 'src/server/auth/mail/outgoing.ts',
    find: 'problem: result.reply } : { outcome, code }',
    replace: 'problem: result.reply } : result',
  },
  {
    id: 'email-unencrypted',
    promise: 'emails travel encrypted',
    effect: 'Emails are sent unencrypted to another machine',
    changedFile: 'src/server/mail/smtp.ts',
    find: 'requireTLS: !isLocal',
    replace: 'requireTLS: false',
  },
  {
    id: 'person-lacks-mark-line',
    promise: 'everything about a person is about that person alone, has no secret, and lacks nothing',
    effect: 'Everything about a person lacks the line that an organiser wrote about a mark',
    changedFile: 'supabase/schemas/24_person.sql',
    find: "'mark', mark, 'why', why, 'at', at,",
    replace: "'mark', mark, 'at', at,",
  },
  {
    id: 'person-names-others',
    promise: 'everything about a person is about that person alone, has no secret, and lacks nothing',
    effect: 'The results of acts name other people, about whom the same act decided',
    changedFile: 'supabase/schemas/24_person.sql',
    find: "where entry ->> 'id' = any (ids) or entry ->> 'application' = any (ids)",
    replace: '',
  },
  {
    id: 'person-has-token',
    promise: 'everything about a person is about that person alone, has no secret, and lacks nothing',
    effect: 'Everything about a person has the token of their link',
    changedFile: 'supabase/schemas/24_person.sql',
    find: "'has_link', token is not null",
    replace: "'has_link', token",
  },
  {
    id: 'person-shown-to-blind-reader',
    promise: 'a blind reader gets none of the five hidden answers from any function',
    effect: 'Blind readers get everything about a person',
    changedFile: 'supabase/schemas/24_person.sql',
    find: "  if me.blind then\n    raise exception 'Everything",
    replace: "  if false then\n    raise exception 'Everything",
  },
  {
    id: 'person-has-hidden-marks',
    promise:
      "no organiser gets another's mark, or learns that there is one, before their own mark or a decision",
    effect: 'Everything about a person has the marks that are hidden from its reader',
    changedFile: 'supabase/schemas/24_person.sql',
    find: 'and (reader is null or account_id in (',
    replace: 'and (true or account_id in (',
  },
]
