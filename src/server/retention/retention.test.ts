import { expect, test } from 'vitest'

import { storeAcceptedApplicant } from '../../../test/support/accepted.ts'
import { atTestEnd } from '../../../test/support/cleanup.ts'
import { openTestDatabase } from '../../../test/support/database.ts'
import { startRetention } from './retention.ts'

test('a server erases private answers that are due, and reports how many or why not', async () => {
  const { owner, server } = await openTestDatabase()
  const { id } = await storeAcceptedApplicant(owner)
  await owner`
    with asked as (
      insert into private.questions (edition, position, kind, text, is_required, is_private)
      values (1, 1, 'short', 'Allergies?', false, true) returning id
    )
    insert into private.question_answers (application_id, question_id, answer) select ${id}, id, 'Nuts' from asked`
  await owner`
    update private.editions set starts_on = private.today() - 31, ends_on = private.today() - 30, private_days = 30`
  await owner`
    insert into private.announcements (edition, subject, days, announced_on, until)
    values (1, 'answers', 6, private.today() - 1, private.today())`
  const lines: [string, object][] = []
  const log = {
    info: (details: object) => void lines.push(['info', details]),
    warn: (details: object) => void lines.push(['warn', details]),
  }
  await owner`alter function private.erase_due_answers rename to elsewhere`
  const retention = startRetention({ sql: server, log })
  atTestEnd(() => retention.stop())
  await expect.poll(() => lines).toMatchObject([['warn', { err: { code: '42883' } }]])
  await owner`alter function private.elsewhere rename to erase_due_answers`
  retention.wake()
  await expect.poll(() => lines.at(-1)).toEqual(['info', { erased: 1 }])
  expect(await owner`select from private.question_answers`).toEqual([])
})
