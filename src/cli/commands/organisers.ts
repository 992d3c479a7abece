import { domainToUnicode } from 'node:url'

import { replaceKey } from '../../server/auth/sessions/keys.ts'
import {
  addOrganiser,
  addProjectOrganiser,
  checkOrganiser,
  listOrganisers,
  operatorSecret,
  removeOrganiser,
  removeProjectOrganiser,
  resetFactors,
  typedEmail,
  type OrganiserSettings,
} from '../../server/auth/manage-organisers.ts'
import { deskLink } from '../../server/auth/mail/links.ts'
import { findListener, readServerAddress } from '../../server/doctor/find-server.ts'
import { commandLine } from '../../settings/command-to-copy.ts'
import { OperatorError } from '../../settings/operator-error.ts'
import { readSettings, type Settings } from '../../settings/server-settings.ts'
import { onOneLine } from '../formats.ts'
import { readOptions } from '../options.ts'
import { withDatabase } from '../with-database.ts'
import type { Sql } from '../../server/database/connection/sql.ts'

const usage = `Usage: ${commandLine('organisers', '[option]')}

  (none)                   lists who may sign in
  --add <email>            adds an account; prints a link that signs in once, within an hour
  --add <email> --name <name>
                           also sets the name that stands in place of the email at the desk
  --add <email> --reader   adds somebody who may only read, mark and write notes; without --reader they may do everything,
                           and also somebody who was a reader
  --link <email>           prints another link of this kind
  --remove <email>         deletes the account, its sessions and its rights at once
  --reset-factor <email>   removes a lost second factor
  --new-key                makes another key sign tokens from now on

  On the database of a Supabase project, accounts are the project's: --add and --remove only give and take the right.`

/** Runs `npm run organisers`, by its options in `usage`. */
export async function run(): Promise<void> {
  const options = readOptions(
    {
      add: { type: 'string', multiple: true },
      name: { type: 'string' },
      reader: { type: 'boolean' },
      link: { type: 'string', multiple: true },
      remove: { type: 'string', multiple: true },
      'reset-factor': { type: 'string', multiple: true },
      'new-key': { type: 'boolean' },
    },
    usage,
  )
  if (options === undefined) return
  const { name, reader: isReader, ...others } = options
  const [[option, value] = ['list', ''], second] = Object.entries(others)
  for (const [setting, given] of Object.entries({ name, reader: isReader })) {
    if (given !== undefined && option !== 'add')
      throw new OperatorError(`Use --${setting} together with --add.`)
  }
  if (second !== undefined) throw new OperatorError(`Use either --${option} or --${second[0]}.`)
  if (Array.isArray(value) && value.length > 1)
    throw new OperatorError(`--${option} takes one email address.`)
  const email = Array.isArray(value) ? typedEmail(value[0] ?? '') : ''
  await withDatabase(async ({ owner, ownerOfAuth }) => {
    const isHostedProject = ownerOfAuth === 'supabase'
    const runOption = isHostedProject ? changeProjectAccounts : changeOwnAccounts
    await runOption(owner, option, email, { name, isReader })
  })
}

async function changeOwnAccounts(sql: Sql, option: string, email: string, settings: OrganiserSettings) {
  if (option === 'list') return list(sql)
  if (option === 'add') {
    console.error(addedSentence(email, await addOrganiser(sql, email, settings), settings))
    return printLink(sql, email)
  }
  if (option === 'link') return printLink(sql, email)
  if (option === 'remove') {
    await removeOrganiser(sql, email)
    console.log(`${readable(email)} is no longer an organiser: the account and its sessions are deleted.`)
  } else if (option === 'reset-factor') {
    const count = await resetFactors(sql, email)
    console.log(
      count === 0
        ? `${readable(email)} has no second factor.`
        : `${readable(email)} no longer has a second factor, and is signed out everywhere.`,
    )
  } else {
    await replaceKey(sql)
    console.log('Another key signs from now on; the old key stays valid until its tokens expire.')
  }
}

async function changeProjectAccounts(sql: Sql, option: string, email: string, settings: OrganiserSettings) {
  if (option === 'list') return list(sql)
  if (option === 'add') {
    console.log(addedSentence(email, await addProjectOrganiser(sql, email, settings), settings))
  } else if (option === 'remove') {
    await removeProjectOrganiser(sql, email)
    console.log(
      `${readable(email)} is no longer an organiser. The account belongs to the project and was kept.`,
    )
  } else {
    throw new OperatorError(
      option === 'link'
        ? "The accounts are a Supabase project's, which sends the links to sign in: ask for one at the desk."
        : `The accounts are a Supabase project's: --${option} is done in the project's dashboard, under Authentication.`,
    )
  }
}

function addedSentence(email: string, isNew: boolean, { isReader = false }: OrganiserSettings) {
  if (isNew) return `${readable(email)} is ${isReader ? 'a reader' : 'an organiser'} now.`
  const right = isReader ? 'only read, mark and write notes' : 'do everything'
  return `${readable(email)} is an organiser already, and may ${right}.`
}

async function list(sql: Sql) {
  const organisers = await listOrganisers(sql)
  if (organisers.length === 0) console.error('There are no organisers yet: --add <email> makes one.')
  for (const { email, name, is_reader, last_sign_in_at: last, has_second_factor: hasFactor } of organisers) {
    const signedIn =
      last === null ? 'never signed in' : `signed in last on ${last.toISOString().slice(0, 10)}`
    const who = onOneLine(readable(email)) + (name === null ? '' : ` (${name})`)
    console.log(
      `${who}  ${is_reader ? 'reader, ' : ''}${signedIn}${hasFactor ? ', with a second factor' : ''}`,
    )
  }
}

/** Prints the link alone on standard output, so that it can be piped. */
async function printLink(sql: Sql, email: string) {
  const settings = readSettings()
  await checkOrganiser(sql, email)
  const site = settings.siteUrl ?? (await localAddress(sql, settings, email))
  const secret = await operatorSecret(sql, email)
  console.error('This link signs in once, within an hour:')
  console.log(deskLink(new URL(site), { secret, type: 'magiclink' }))
}

/**
 * The address where the server listens, so that a link can lead there. If another program listens there, no link is made, since
 * anybody who has the link can sign in.
 */
async function localAddress(sql: Sql, settings: Settings, email: string) {
  const address = await readServerAddress(sql, settings)
  const noLinkMade = `No link was made. When the server runs, run: ${commandLine('organisers', `--link ${email}`)}`
  if (address === undefined) {
    throw new OperatorError(`PORT is "0", and no server runs on this database: start it first. ${noLinkMade}`)
  }
  const { listener, problem } = await findListener(sql, address)
  if (problem !== undefined) throw new OperatorError(`${problem} ${noLinkMade}`)
  console.error(
    listener === 'nothing'
      ? `SITE_URL is not set, and no server answers at ${address}, where the link leads: start it there before you open the link.`
      : `SITE_URL is not set, so the link leads to ${address}, where only this machine may find the server.`,
  )
  return address
}

/** An email with its domain as people read it. */
function readable(email: string) {
  const [name, domain = ''] = email.split('@')
  return `${name}@${domainToUnicode(domain) || domain}`
}
