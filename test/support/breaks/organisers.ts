import type { Break } from './break.ts'

/** Deliberate breaks of the promises about who can act as an organiser, and with which rights. */
export const organisers: readonly Break[] = [
  {
    promise: 'only an organiser acts as one',
    effect: 'Everybody who signs in is an organiser',
    changedFile: 'supabase/schemas/03_organisers.sql',
    find: 'exists (select from private.organisers where account_id = auth.uid())',
    replace: 'auth.uid() is not null',
    testFile: 'test/database/desk/rights.test.ts',
    testTitle: 'on our own server, each function of the desk refuses everybody but organisers',
  },
  {
    promise: 'only an organiser acts as one',
    effect: 'Everybody who signs in reads a private table',
    changedFile: 'supabase/schemas/24_rights.sql',
    find: 'revoke all on schema private from public, anon, authenticated;',
    replace: '',
    migration:
      'grant usage on schema private to authenticated; grant select on private.statuses to authenticated;',
    testFile: 'test/database/desk/rights.test.ts',
    testTitle:
      'on our own server and on a hosted project, the roles of the data interface have only the listed rights',
  },
  {
    promise: 'only an organiser acts as one',
    effect: 'A new function in private may be executed by everybody',
    changedFile: 'supabase/schemas/24_rights.sql',
    find: 'revoke all on all functions in schema private from public, anon, authenticated;',
    replace: '',
    migration: 'create function private.forgotten() returns integer language sql return 1;',
    testFile: 'test/database/desk/rights.test.ts',
    testTitle:
      'on our own server and on a hosted project, the roles of the data interface have only the listed rights',
  },
  {
    promise: 'no function that anybody may call has the rights of a superuser',
    effect: 'Objects that the superuser creates keep the superuser as their owner',
    changedFile: 'src/server/database/owner.ts',
    find: "await transaction.unsafe(others.map(({ statement }) => statement).join('; '))",
    replace: '',
    testFile: 'test/database/server/owner.test.ts',
    testTitle: 'a function that visitors may call has no right to %s',
  },
  {
    promise: 'no function that anybody may call has the rights of a superuser',
    effect: 'The role that owns all our objects may create roles',
    changedFile: 'src/server/database/owner.ts',
    find: 'nologin noinherit`',
    replace: 'nologin noinherit createrole`',
    testFile: 'test/database/server/owner.test.ts',
    testTitle:
      'on the embedded database, all our objects belong to a role that cannot log in and has no other rights',
  },
  {
    promise:
      "no organiser gets another's mark, or learns that there is one, before their own mark or a decision",
    effect: 'An organiser who took their mark back sees the marks of others',
    changedFile: 'supabase/schemas/05_marks.sql',
    find: 'own.account_id = account and own.mark is not null',
    replace: 'own.account_id = account',
    testFile: 'test/database/desk/marks.test.ts',
    testTitle: 'marks of others are hidden until an organiser has marked the application too',
  },
  {
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
    testFile: 'test/database/desk/rights.test.ts',
    testTitle: 'on our own server, each function of the desk refuses everybody but organisers',
  },
  {
    promise: "each function that the API's roles may execute asks first",
    effect: 'A session without the second factor may call the functions',
    changedFile: 'supabase/schemas/03_organisers.sql',
    find: "and (not has_factor or (coalesce(aal::text, '') = 'aal2' and coalesce(claims ->> 'aal', '') = 'aal2'))",
    replace: '',
    testFile: 'test/database/desk/rights.test.ts',
    testTitle: 'on our own server, each function of the desk refuses everybody but organisers',
  },
  {
    promise: 'a decision is not overwritten unseen, and one that is shown as saved is saved',
    effect: 'A decision that was made on an outdated status is saved',
    changedFile: 'supabase/schemas/05_decisions.sql',
    find: 'if decision.version is distinct from current_status.version then',
    replace: 'if decision.version > current_status.version then',
    testFile: 'test/database/desk/desk.test.ts',
    testTitle:
      'a decision about the current version of a status is saved; any other is refused with the current status and its author',
  },
  {
    promise: 'a decision is not overwritten unseen, and one that is shown as saved is saved',
    effect: 'A decision that is sent twice is made twice',
    changedFile: 'supabase/schemas/05_decisions.sql',
    find: "not private.begin_act(act, 'desk_decide', decisions::text)",
    replace: 'false',
    testFile: 'test/database/desk/desk.test.ts',
    testTitle: 'repeating an act gives the same response and changes nothing',
  },
  {
    promise: 'a blind reader gets none of the five hidden answers from any function',
    effect: 'A blind reader finds an application by a rare name',
    changedFile: 'supabase/schemas/04_search.sql',
    find: 'where id = any (hits) and coalesce(',
    replace: 'where id = any (hits) or coalesce(',
    testFile: 'test/database/desk/desk.test.ts',
    testTitle:
      'the search of a blind reader covers only the reason and the custom solution, even for common words',
  },
  {
    promise:
      'form answers are text, and become a link only if they are an email address, a phone number or a page of LinkedIn',
    effect: 'A link leads to a site whose domain only ends in linkedin.com',
    changedFile: 'src/pages/desk/kit/contact-links.ts',
    find: '/^(?:[a-z\\d-]+\\.)*linkedin\\.com$/',
    replace: '/linkedin\\.com$/',
    testFile: 'src/pages/desk/kit/contact-links.test.ts',
    testTitle: 'the LinkedIn page %j leads to %s',
  },
  {
    promise: 'no log contains a searched email',
    effect: 'A searched text is in a URL that is sent to a server',
    changedFile: 'src/pages/desk/kit/route.ts',
    find: 'return `#/${queryOf(route.filters)}`',
    replace: "return queryOf(route.filters) || '#/'",
    testFile: 'test/browser/desk.test.ts',
    testTitle:
      'search covers names, email, company, LinkedIn, reason and custom solution, ignores accents, and is in no requested URL',
  },
  {
    promise: 'removing an account or a session ends its tokens at once',
    effect: 'The token of an ended session is accepted until it expires',
    changedFile: 'supabase/schemas/03_organisers.sql',
    find: "where id = (claims ->> 'session_id')::uuid and user_id = auth.uid()",
    replace: 'where true',
    testFile: 'test/system/attacks/sign-in.test.ts',
    testTitle:
      'an access token is refused at once on every server after its session, its account or its rights have ended',
  },
  {
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
    testFile: 'test/system/attacks/enumeration.test.ts',
    testTitle: 'the response to %s is sent before the account is queried',
  },
  {
    promise: 'a code is not guessed',
    effect: 'A code is still accepted after five wrong tries',
    changedFile: 'src/server/auth/proofs/one-time.ts',
    find: 'const maxTries = 5',
    replace: 'const maxTries = 50',
    testFile: 'src/server/auth/calls/verify.test.ts',
    testTitle:
      'a code is invalid after five wrong tries from any address; the link in the same email and the next code still work',
  },
  {
    promise: 'a password is not guessed',
    effect: 'Passwords for an email address are compared without a limit',
    changedFile: 'src/server/auth/accounts/password-tries.ts',
    find: '<= limit.maxTries',
    replace: '<= 1e9',
    testFile: 'test/system/attacks/sign-in.test.ts',
    testTitle:
      'at most thirty wrong passwords for an email address are compared, with or without an account; links still sign in',
  },
  {
    promise: 'a second factor is not guessed, or used twice',
    effect: 'A code of an authenticator is accepted twice',
    changedFile: 'src/server/auth/proofs/second-factor.ts',
    find: 'step === undefined || step <= factor.last_step',
    replace: 'step === undefined',
    testFile: 'src/server/auth/calls/factors.test.ts',
    testTitle: 'a code is accepted once, and no earlier code is accepted after it',
  },
  {
    promise: 'a stolen refresh token is found out',
    effect: 'A refresh token that was used long ago is accepted again',
    changedFile: 'src/server/auth/sessions/sessions.ts',
    find: '(behind > 1 && !row.is_recent)',
    replace: 'false',
    testFile: 'src/server/auth/calls/token.test.ts',
    testTitle: 'a refresh token older than the previous one ends the session after ten seconds',
  },
  {
    promise: 'tokens are not forged',
    effect: 'A token for another audience opens the desk',
    changedFile: 'src/server/auth/sessions/keys.ts',
    find: `        audience: 'authenticated',
`,
    replace: '',
    testFile: 'test/system/attacks/forgery.test.ts',
    testTitle:
      'a correctly signed token that has expired, never expires, or is for another audience or role is refused',
  },
  {
    promise: 'links lead nowhere else',
    effect: 'A link leads to any site that a request names',
    changedFile: 'src/server/auth/mail/links.ts',
    find: 'const isSite = target.origin === site.origin ||',
    replace: 'const isSite = target.protocol === site.protocol ||',
    testFile: 'src/server/auth/mail/links.test.ts',
    testTitle: 'a link to %s leads to the desk instead',
  },
  {
    promise: 'links lead nowhere else',
    effect: 'A sign-in link leads to another program on the port',
    changedFile: 'src/cli/commands/organisers.ts',
    find: `if (problem !== undefined) throw`,
    replace: `if (isNaN(0)) throw`,
    testFile: 'test/system/commands/organisers.test.ts',
    testTitle:
      'without SITE_URL a link leads to the running server, and no link is made if another program is at its port',
  },
  {
    promise: 'nobody acts as another without knowing',
    effect: "A call of one person is sent with the next person's token",
    changedFile: 'src/client/session.ts',
    find: `      if (session?.user.id !== account) throw new SignedOutError()
`,
    replace: `      if (session === null) throw new SignedOutError()
`,
    testFile: 'src/client/session.test.ts',
    testTitle: 'a call of one person is never sent with the token of the next person',
  },
  {
    promise: "an intruder in the mailbox alone ends nobody's sessions, and changes nothing unseen",
    effect: 'A session without the second factor changes the password',
    changedFile: 'src/server/auth/calls/user.ts',
    find: 'if (isGuarded) refuseLowAal(current)',
    replace: 'if (!isGuarded) refuseLowAal(current)',
    testFile: 'src/server/auth/calls/user.test.ts',
    testTitle: 'with a second factor only a session that has used it changes the password or the address',
  },
  {
    promise: 'the log holds no code, token, password or address of an organiser',
    effect: "The log has the mail server's reply, which quotes the address",
    changedFile: 'src/server/auth/mail/outgoing.ts',
    find: 'problem: result.reply } : { outcome, code }',
    replace: 'problem: result.reply } : result',
    testFile: 'test/system/attacks/sign-in-log.test.ts',
    testTitle:
      'no log contains a code, token, secret, password or address of an organiser, after successes and failures',
  },
  {
    promise: 'emails travel encrypted',
    effect: 'Emails are sent unencrypted to another machine',
    changedFile: 'src/server/mail/smtp.ts',
    find: 'requireTLS: !isLocal',
    replace: 'requireTLS: false',
    testFile: 'src/server/mail/send.test.ts',
    testTitle: 'nothing is sent to another machine without TLS, or with an untrusted certificate',
  },
  {
    promise: 'everything about a person is about that person alone, has no secret, and lacks nothing',
    effect: 'Everything about a person lacks the line that an organiser wrote about a mark',
    changedFile: 'supabase/schemas/24_person.sql',
    find: "'mark', mark, 'why', why, 'at', at,",
    replace: "'mark', mark, 'at', at,",
    testFile: 'test/database/privacy/person.test.ts',
    testTitle:
      'every column of every table with something about a person is in the result, or is left out for a reason',
  },
  {
    promise: 'everything about a person is about that person alone, has no secret, and lacks nothing',
    effect: 'The results of acts name other people, about whom the same act decided',
    changedFile: 'supabase/schemas/24_person.sql',
    find: "where entry ->> 'id' = any (ids) or entry ->> 'application' = any (ids)",
    replace: '',
    testFile: 'test/database/privacy/person.test.ts',
    testTitle: 'the result has nothing about another person, and no secret',
  },
  {
    promise: 'everything about a person is about that person alone, has no secret, and lacks nothing',
    effect: 'Everything about a person has the token of their link',
    changedFile: 'supabase/schemas/24_person.sql',
    find: "'has_link', token is not null",
    replace: "'has_link', token",
    testFile: 'test/database/privacy/person.test.ts',
    testTitle: 'the result has nothing about another person, and no secret',
  },
  {
    promise: 'a blind reader gets none of the five hidden answers from any function',
    effect: 'Blind readers get everything about a person',
    changedFile: 'supabase/schemas/24_person.sql',
    find: "  if me.blind then\n    raise exception 'Everything",
    replace: "  if false then\n    raise exception 'Everything",
    testFile: 'test/database/privacy/person.test.ts',
    testTitle: 'an organiser who reads blind is refused with a sentence',
  },
  {
    promise:
      "no organiser gets another's mark, or learns that there is one, before their own mark or a decision",
    effect: 'Everything about a person has the marks that are hidden from its reader',
    changedFile: 'supabase/schemas/24_person.sql',
    find: 'and (reader is null or account_id in (',
    replace: 'and (true or account_id in (',
    testFile: 'test/database/desk/marks.test.ts',
    testTitle:
      'until an organiser may see the marks of others, all responses are the same with and without them',
  },
]
