import { trimmed } from '../../application/blank.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { lockAccount } from './accounts/accounts.ts'
import { resetCount } from './account-limits.ts'
import { emailOf } from './fields.ts'
import { removeFactor } from './proofs/second-factor.ts'
import { issue, lifetimes } from './proofs/one-time.ts'
import { isDatabaseError } from '../database/connection/connection.ts'
import type { Sql } from '../database/connection/sql.ts'

/** Somebody who may sign in and use the desk. */
export interface Organiser {
  email: string
  name: string | null
  /** Whether they may only read, mark and write notes. */
  is_reader: boolean
  last_sign_in_at: Date | null
  has_second_factor: boolean
}

/**
 * An email address that an operator typed, as accounts store it.
 *
 * @throws {OperatorError} if it is no address.
 */
export function typedEmail(text: string): string {
  try {
    return emailOf(trimmed(text))
  } catch (cause) {
    throw new OperatorError(`"${text}" is not an email address.`, { cause })
  }
}

/** Lists all organisers, in the order of their email addresses. */
export async function listOrganisers(sql: Sql): Promise<Organiser[]> {
  return sql<Organiser[]>`
    select email, name, is_reader, last_sign_in_at,
      exists (select from auth.mfa_factors where user_id = users.id and status = 'verified') as has_second_factor
    from auth.users as users join private.organisers on account_id = id order by email`
}

/** What is stored about an organiser who is added, also about somebody who is one already. */
export interface OrganiserSettings {
  /** Undefined leaves the name unchanged. */
  name?: string | undefined
  /** Whether they may only read, mark and write notes. By default they may do everything. */
  isReader?: boolean | undefined
}

/**
 * Adds an organiser, and creates the account if there is none.
 *
 * @returns Whether the person became an organiser; false if they were one before.
 * @throws {OperatorError} if the database refuses the name, or that nobody may do everything any more.
 */
export async function addOrganiser(
  sql: Sql,
  email: string,
  settings: OrganiserSettings = {},
): Promise<boolean> {
  return sql.begin(async (transaction) =>
    makeOrganiser(transaction, await makeAccount(transaction, email), settings),
  )
}

/** Creates an account if there is none, and returns its id. Somebody who was removed before has their marks again. */
async function makeAccount(transaction: Sql, email: string): Promise<string> {
  const { count } = await transaction`
    insert into auth.users (email, email_confirmed_at) values (${email}, now()) on conflict (email) do nothing`
  const id = await findAccountId(transaction, email)
  if (count > 0) await takeOverMarks(transaction, id, email)
  await transaction`
    insert into auth.identities (user_id, provider_id, provider, last_sign_in_at, identity_data)
    values (${id}, ${id}, 'email', now(), ${JSON.stringify({ sub: id, email, email_verified: true, phone_verified: false })})
    on conflict do nothing`
  return id
}

/**
 * Gives a new account the marks of a deleted one with the same email. Otherwise one person would count twice. If several accounts were
 * deleted, the latest mark of each application counts.
 */
async function takeOverMarks(transaction: Sql, id: string, email: string) {
  await transaction`
    update private.marks set account_id = ${id}
    from (
      select distinct on (application_id) application_id, account_id from private.marks
      where author = private.unicode_email(${email}) and not exists (select from auth.users where id = account_id)
      order by application_id, at desc
    ) as latest
    where marks.application_id = latest.application_id and marks.account_id = latest.account_id`
}

/** An invitation to be an organiser. */
interface Invitation {
  email: string
  /** Blank for none. */
  name: string
  isReader: boolean
  /** The email of the organiser who invites, whose token claims the transaction has. */
  by: string
}

/**
 * Makes an invited person an organiser. Somebody who was invited before and has not signed in gets another link, and nothing else
 * changes.
 *
 * @returns The secret of a link that signs them in, once, within a day, and whether they are a reader; undefined if they are an
 *   organiser already.
 * @throws the database's error if it refuses the name.
 */
export async function inviteOrganiser(
  transaction: Sql,
  { email, name, isReader, by }: Invitation,
): Promise<{ secret: string; isReader: boolean } | undefined> {
  const id = await makeAccount(transaction, email)
  await lockAccount(transaction, id)
  const { count } = await transaction`
    insert into private.organisers (account_id, is_reader) values (${id}, ${isReader}) on conflict do nothing`
  if (count > 0) {
    if (name !== '') await transaction`select private.set_organiser_name(${id}, ${name})`
    await transaction`
      select private.write_down_organiser(${by}, jsonb_build_object('organiser', private.unicode_email(${email}),
        'is_reader', ${isReader}::boolean, 'invited', ${id}::text))`
  } else {
    const [account] = await transaction`select from auth.users where id = ${id} and last_sign_in_at is null`
    if (account === undefined) return undefined
  }
  const { secret } = await issue(transaction, {
    accountId: id,
    type: 'confirmation_token',
    address: email,
    lifetime: lifetimes.invitation,
    offers: ['link'],
  })
  const [stored] = await transaction<[{ is_reader: boolean }]>`
    select is_reader from private.organisers where account_id = ${id}`
  return { secret, isReader: stored.is_reader }
}

/**
 * Makes the owner of a hosted project's account an organiser. The account has to exist and be confirmed, since anybody could sign
 * up with somebody else's address.
 *
 * @returns Whether the person became an organiser; false if they were one before.
 * @throws {OperatorError} if the account is missing or not confirmed, and as `addOrganiser` does.
 */
export async function addProjectOrganiser(
  sql: Sql,
  email: string,
  settings: OrganiserSettings = {},
): Promise<boolean> {
  const [account] = await sql<{ id: string; is_confirmed: boolean }[]>`
    select id, email_confirmed_at is not null as is_confirmed from auth.users
    where private.ascii_email(lower(email)) = ${email} and not coalesce(is_sso_user, false)`
  if (account === undefined) {
    throw new OperatorError(
      `The project has no account ${email}: add it in the project's dashboard, under Authentication, and run this again.`,
    )
  }
  if (!account.is_confirmed) {
    throw new OperatorError(
      `The account ${email} is not confirmed: have its owner open the project's email, or confirm it in the project's dashboard, under Authentication, and run this again.`,
    )
  }
  return sql.begin((transaction) => makeOrganiser(transaction, account.id, settings))
}

async function makeOrganiser(transaction: Sql, id: string, { name, isReader = false }: OrganiserSettings) {
  const { count } = await transaction`
    insert into private.organisers (account_id) values (${id}) on conflict do nothing`
  try {
    // A new one may do everything.
    if (count === 0 || isReader) await transaction`select private.set_reader(${id}, ${isReader}, 'operator')`
    if (name !== undefined) await transaction`select private.set_organiser_name(${id}, ${name})`
  } catch (cause) {
    if (isDatabaseError(cause) && cause.code === '22023') throw new OperatorError(cause.message, { cause })
    throw cause
  }
  return count > 0
}

/** Deletes an organiser's account, and with it their sessions and rights. */
export async function removeOrganiser(sql: Sql, email: string): Promise<void> {
  await sql.begin(async (transaction) => {
    const id = await lockOrganiser(transaction, email)
    await transaction`delete from auth.users where id = ${id}`
  })
}

/** Removes only the organiser's right from a hosted project's account. */
export async function removeProjectOrganiser(sql: Sql, email: string): Promise<void> {
  const { count } = await sql`
    delete from private.organisers using auth.users where account_id = users.id and private.ascii_email(lower(users.email)) = ${email}`
  if (count === 0) throw notAnOrganiser(email)
}

/**
 * Checks that an address belongs to an organiser on our own server.
 *
 * @throws {OperatorError} if it does not.
 */
export async function checkOrganiser(sql: Sql, email: string): Promise<void> {
  await sql.begin((transaction) => lockOrganiser(transaction, email))
}

/** Creates the secret of a link that signs an organiser in, once, within an hour. */
export async function operatorSecret(sql: Sql, email: string): Promise<string> {
  return sql.begin(async (transaction) => {
    const { secret } = await issue(transaction, {
      accountId: await lockOrganiser(transaction, email),
      type: 'confirmation_token',
      address: email,
      lifetime: lifetimes.operator,
      offers: ['link'],
    })
    return secret
  })
}

/**
 * Removes the second factors of an organiser who lost them. Also ends the organiser's sessions, since somebody who found the
 * phone may have a session on it.
 *
 * @returns The number of removed factors.
 */
export async function resetFactors(sql: Sql, email: string): Promise<number> {
  return sql.begin(async (transaction) => {
    const id = await lockOrganiser(transaction, email)
    const factors = await transaction<{ id: string }[]>`select id from auth.mfa_factors where user_id = ${id}`
    for (const factor of factors) await removeFactor(transaction, factor.id)
    await transaction`delete from auth.sessions where user_id = ${id}`
    await resetCount(transaction, id, 'factor guesses')
    return factors.length
  })
}

/** Locks an organiser's account on our own server, and returns its id. */
async function lockOrganiser(transaction: Sql, email: string): Promise<string> {
  const id = await findAccountId(transaction, email)
  await lockAccount(transaction, id)
  const [organiser] = await transaction`select from private.organisers where account_id = ${id}`
  if (organiser === undefined) throw notAnOrganiser(email)
  return id
}

async function findAccountId(transaction: Sql, email: string): Promise<string> {
  // Beside this account, an older version may have stored one with another form of the domain.
  const [account] = await transaction<{ id: string }[]>`
    select id from auth.users where private.ascii_email(email) = private.ascii_email(${email}) order by email = ${email} desc limit 1`
  if (account === undefined) throw notAnOrganiser(email)
  return account.id
}

function notAnOrganiser(email: string) {
  return new OperatorError(`There is no organiser ${email}: ${commandLine('organisers')} lists them.`)
}
