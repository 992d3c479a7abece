import { beforeEach, expect, test } from 'vitest'

import { applicationDesk } from '../../support/application-server-for-test-file.ts'
import { askDesk, type DeskHistory } from '../../support/ask-desk.ts'
import type { Organisers } from '../../../src/client/desk/marks.ts'
import { addOrganiser } from '../../../src/server/auth/manage-organisers.ts'

const desk = applicationDesk()

beforeEach(async () => {
  // No organiser of an earlier test is left.
  await desk.server.database.owner`
    delete from auth.users where email <> ${desk.me} and id in (select account_id from private.organisers)`
})

const accountOf = async (email: string) => {
  const { organisers } = await askDesk<Organisers>(desk.client, 'organisers', {})
  return organisers.find((each) => each.email === email)?.account
}
const remove = (account: string | undefined, client = desk.client) =>
  askDesk<Organisers>(client, 'remove_organiser', { account })

// break: removed-organiser-keeps-account
test('an organiser who is removed at the desk loses the account and its sessions at once, and the history names them', async () => {
  const { client, email } = await desk.server.signedIn()
  const { organisers, can_invite } = await remove(await accountOf(email))
  expect({ emails: organisers.map((each) => each.email), can_invite }).toEqual({
    emails: [desk.me],
    can_invite: true,
  })
  expect((await client.rpc('desk_me')).error?.code).toBe('42501')
  expect((await client.auth.getUser()).error?.code).toBe('user_not_found')
  expect((await client.auth.refreshSession()).error?.code).toBe('refresh_token_not_found')
  const { happenings } = await askDesk<DeskHistory>(desk.client, 'history', {})
  expect(happenings).toMatchObject([
    { author: desk.me, kind: 'organiser', detail: { organiser: email, is_removed: true } },
  ])
  await expect(remove(crypto.randomUUID())).rejects.toMatchObject({ code: 'PT404' })
})

test('the last organiser who may do everything cannot be removed, and another one may remove themselves', async () => {
  const { owner } = desk.server.database
  const { client, email } = await desk.server.signedIn()
  await addOrganiser(owner, email, { isReader: true })
  await expect(remove(await accountOf(desk.me))).rejects.toMatchObject({
    code: '22023',
    message: 'Let another organiser do everything first: somebody has to.',
  })
  await addOrganiser(owner, email)
  const own = await accountOf(email)
  expect((await remove(own, client)).organisers).toHaveLength(1)
  expect(await accountOf(email)).toBeUndefined()
})

test('everybody who may do everything, and the organiser themselves, are told by email of a change, if a server sends emails', async () => {
  const { owner } = desk.server.database
  const [grace, reader, gone] = [
    await desk.server.organiser(),
    await desk.server.organiser(),
    await desk.server.organiser(),
  ]
  await remove(await accountOf(gone))
  expect(await owner`select from private.deliveries`).toEqual([])
  await owner`update private.postman set seen_at = now()`
  await askDesk(desk.client, 'set_reader', { account: await accountOf(reader), is_reader: true })
  const told = await owner<{ email: string }[]>`
    select email from private.deliveries join auth.users on users.id = organiser_id where kind = 'notice' order by 1`
  expect(told.map(({ email }) => email)).toEqual([desk.me, grace, reader].toSorted())
})
