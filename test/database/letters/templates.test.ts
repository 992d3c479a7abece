import { expect, test } from 'vitest'

import { anApplication } from '../../support/form.ts'
import { columns, paidSolutions, teamSizes } from '../../../src/application/application.ts'
import type { Letter, Template } from '../../../src/client/desk/letters.ts'
import { letterDesk, outcomesOf } from '../../support/letter-server-for-test-file.ts'

const { me, sql, ask, store, drafts, release, another } = letterDesk()

test('every form answer but the consent has a placeholder, which quotes it in the words that the applicant read', async () => {
  const choices = [
    ...Object.keys(paidSolutions).map((value) => ['paid_solution', value, paidSolutions] as const),
    ...Object.keys(teamSizes).map((value) => ['team_size', value, teamSizes] as const),
  ]
  for (const [column, value, labels] of choices) {
    const id = await store({ [column]: value, email: `${column}.${value}@example.org` })
    const body = `{{${column}}}`
    expect(await ask('preview', { subject: 's', body, application: id })).toMatchObject({
      body: (labels as Record<string, string>)[value],
    })
  }
  const quotableColumns = columns.filter((column) => column !== 'consent')
  const answers = anApplication({ custom_solution: 'Mine', paid_solution: 'custom' })
  const id = await store(answers)
  const body = quotableColumns.map((column) => `{{${column}}}`).join('|')
  const { body: filled } = await ask<{ body: string }>('preview', { subject: 's', body, application: id })
  expect(filled.split('|')).toHaveLength(quotableColumns.length)
  expect(filled).not.toContain('{{')
})

test("a placeholder in an applicant's text is not filled in, and a subject stays one line", async () => {
  const id = await store({ first_name: 'A{{email}}\r\nBcc: b@example.org', company: '\u2028x\\1$&' })
  const preview = await ask('preview', {
    subject: '{{first_name}} {{company}}',
    body: '{{first_name}}',
    application: id,
  })
  expect(preview).toMatchObject({
    subject: 'A{ {email}} Bcc: b@example.org x\\1$&',
    unknown: [],
  })
})

test('a template with an unknown placeholder, wrong braces or an invalid subject is not saved', async () => {
  const before = await ask<{ templates: object[] }>('letters')
  for (const body of [
    '{{frist_name}}',
    '{{}}',
    '{{first_name',
    'first_name}}',
    '{{{first_name}}}',
    '{{consent}}',
  ]) {
    const refused = ask('set_template', { occasion: 'Travel', version: null, subject: 'By train', body })
    const areBracesOdd = body.includes('first_name')
    await expect(refused).rejects.toMatchObject({
      code: '22023',
      message: areBracesOdd
        ? 'A placeholder has two braces before and two after its name, as in {{first_name}}.'
        : `There is no placeholder ${body}.`,
    })
  }
  for (const subject of ['', ' ', 'two\nlines', 'x'.repeat(201)]) {
    await expect(
      ask('set_template', { occasion: 'Travel', version: null, subject, body: 'b' }),
    ).rejects.toMatchObject({ code: '22023' })
  }
  expect((await ask<{ templates: object[] }>('letters')).templates).toHaveLength(before.templates.length)
})

test('a letter that is too long once it is filled in is cut in the preview, and cannot be sent', async () => {
  const id = await store({ reason: 'r'.repeat(90_000), company: 'c'.repeat(9_000) })
  const text = { occasion: 'Long', subject: 'For {{company}}', body: '{{reason}}' }
  for (const tooLong of [{ subject: 'x'.repeat(201) }, { body: 'x'.repeat(20_001) }]) {
    await expect(ask('preview', { ...text, ...tooLong })).rejects.toMatchObject({ code: '22023' })
  }
  // Without a limit, this text would have 180 MB.
  const body = text.body.repeat(2_000)
  const preview = await ask<Letter>('preview', { ...text, body, application: id })
  expect(preview).toMatchObject({ is_long: true, missing: [], unknown: [] })
  expect(preview.body).toBe('r'.repeat(20_000))
  expect(preview.subject).toHaveLength(1_000)
  await ask('set_template', { ...text, version: null })
  await ask('write', { applications: [id], occasion: 'Long' })
  const { letters } = await drafts('Long')
  expect(letters).toMatchObject([{ is_long: true }])
  expect(outcomesOf(await release(letters))).toEqual(['long'])
  const [draft] = letters
  await expect(ask('sent_by_hand', { letter: draft?.id, seen: draft?.seen })).rejects.toMatchObject({
    code: '22023',
  })
})

test('a receipt quotes only the first name, leaves out one that looks like a link, and cannot be written by an organiser', async () => {
  const id = await store({ first_name: 'http://evil' })
  const [receipt] = (await ask<{ templates: Template[] }>('letters')).templates
  expect(receipt).toMatchObject({ occasion: 'received' })
  const template = { occasion: 'received', version: receipt?.version, subject: 'Thanks' }
  for (const body of ['{{last_name}}', '{{company}}', '{{first_name}} {{']) {
    await expect(ask('set_template', { ...template, body })).rejects.toMatchObject({ code: '22023' })
    await expect(ask('send_test', { occasion: 'received', subject: 's', body })).rejects.toMatchObject({
      code: '22023',
    })
  }
  expect(await ask('set_template', { ...template, body: 'Hello {{first_name}}!' })).toMatchObject({
    body: 'Hello {{first_name}}!',
  })
  expect(
    await ask('preview', {
      occasion: 'received',
      subject: 's',
      body: 'Hello {{first_name}}!',
      application: id,
    }),
  ).toMatchObject({ body: 'Hello!', unknown: [], missing: [] })
  await expect(ask('write', { applications: [id], occasion: 'received' })).rejects.toMatchObject({
    code: '22023',
  })
  await expect(
    ask('remove_template', { occasion: 'received', version: (receipt?.version ?? 0) + 1 }),
  ).rejects.toMatchObject({ code: '22023' })
})

test('an organiser gets a test of a letter as an applicant would get it, at most twenty times an hour', async () => {
  const text = { occasion: 'accepted', subject: 'For {{first_name}}', body: 'Hello {{company}}' }
  const readTestLetters = () => sql()`
    select email, subject, body from private.deliveries join auth.users on users.id = organiser_id
    where kind = 'test'`
  await expect(ask('send_test', text)).rejects.toMatchObject({ code: '22023' })
  const id = await store({ first_name: 'Zoë', company: 'First' })
  await store({ company: 'Newest' })
  await sql()`update private.postman set seen_at = now() - interval '2 minutes'`
  await expect(ask('send_test', text)).rejects.toMatchObject({ code: 'PT409' })
  await sql()`update private.postman set seen_at = now()`
  expect(await ask('send_test', { ...text, application: id })).toEqual({ to: me() })
  expect(await readTestLetters()).toEqual([{ email: me(), subject: '[Test] For Zoë', body: 'Hello First' }])
  expect(await ask('send_test', text)).toEqual({ to: me() })
  expect(await readTestLetters()).toHaveLength(2)
  await Promise.all(Array.from({ length: 30 }, () => ask('send_test', text).catch(() => undefined)))
  expect(await readTestLetters()).toHaveLength(20)
  await expect(ask('send_test', text)).rejects.toMatchObject({ code: 'PT429' })
  const other = await another()
  expect(await ask('send_test', text, other.client)).toEqual({ to: other.email })
  // Twenty for this organiser, and one for the other.
  expect(await readTestLetters()).toHaveLength(21)
  // A waiting test letter is erased with the application that it was filled in for.
  await sql()`delete from public.retreat_applications where id = ${id}`
  expect(await readTestLetters()).toHaveLength(20)
  expect(JSON.stringify(await readTestLetters())).not.toContain('Zoë')
})
