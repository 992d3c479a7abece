import { domainToASCII, domainToUnicode } from 'node:url'

import { expect, test } from 'vitest'

import { letterDesk } from '../../support/letter-server-for-test-file.ts'

const { sql, ask, store } = letterDesk()

test('an international domain has the form in ASCII that a browser sends, and the form that people read', async () => {
  const domains = [
    'münchen.example',
    'bücher.xn--mnchen-3ya.example',
    'straße.example',
    'ÜBER.Example',
    'παράδειγμα.δοκιμή',
    '例え.テスト',
    '例え。テスト',
    'пример.испытание',
    'مثال.إختبار',
    'नेपाल.भारत',
    'a-ü-b.example',
    '☃.example',
    '𝒶😀.example',
    'ａｂｃ.example',
    'example.com',
  ]
  for (const domain of domains) {
    const [row] = await sql()<[{ ascii: string; unicode: string }]>`
      select private.ascii_email(${`ada@${domain}`}) as ascii,
        private.unicode_email(private.ascii_email(${`ada@${domain}`})) as unicode`
    expect(row).toEqual({
      ascii: `ada@${domainToASCII(domain)}`,
      unicode: `ada@${domainToUnicode(domainToASCII(domain))}`,
    })
  }
})

test.each(['xn--', 'xn--a', 'xn--99999999', 'xn--ü', 'xn----', `xn--${'z'.repeat(59)}`, 'ü'.repeat(300)])(
  'a domain that is none, such as %j, stays as it is',
  async (domain) => {
    const email = `ada@${domain}`
    const [row] = await sql()`
      select octet_length(private.ascii_email(${email})) > 0 as has_ascii, private.unicode_email(${email}) = ${email} as is_same`
    expect(row).toMatchObject({ has_ascii: true })
  },
)

// break: domain-has-two-forms
test('both forms of a domain belong to one person and one mailbox', async () => {
  const id = await store({ email: 'ada@münchen.example' })
  await store({ email: 'Ada@xn--mnchen-3ya.example' })
  expect(await ask('application', { application: id })).toMatchObject({ application: { same_email: true } })
  expect(await sql()`select distinct private.mailbox(email) from public.retreat_applications`).toEqual([
    { mailbox: 'ada@xn--mnchen-3ya.example' },
  ])
})

test('a search for either form of a domain finds both', async () => {
  await store({ email: 'ada@münchen.example', last_name: 'One' })
  await store({ email: 'ada@xn--mnchen-3ya.example', last_name: 'Two' })
  await store({ email: 'ada@hamburg.example', last_name: 'Three' })
  const found = async (search: string) =>
    (await ask<{ applications: { last_name: string }[] }>('list', { filter: { search } })).applications
      .map(({ last_name: name }) => name)
      .toSorted((one, other) => one.localeCompare(other))
  for (const search of [
    'münchen',
    'MÜNCHEN.example',
    'ada@münchen.example',
    'xn--mnchen-3ya',
    'ada@xn--mnchen-3ya.example',
    'ada münchen',
  ]) {
    expect([search, await found(search)]).toEqual([search, ['One', 'Two']])
  }
  expect(await found('münchen hamburg')).toEqual([])
})

test('receipts and junk know the same providers of mailboxes', async () => {
  const providers = [
    'gmail.com',
    'yahoo.de',
    'yahoo.co.uk',
    'hey.com',
    'fastmail.com',
    'gmx.at',
    'hotmail.com.br',
    'yandex.ru',
  ]
  const others = [
    'acme.org',
    'gmx.example',
    'live.app',
    'mygmail.com',
    'gmail.com.evil.org',
    'live.example.org',
  ]
  const rows = await sql()<{ domain: string }[]>`
    select domain from unnest(${[...providers, ...others]}::text[]) as domain where private.is_mailbox_provider(domain)`
  expect(rows.map(({ domain }) => domain)).toEqual(providers)
})

test('organisers read the form of people', async () => {
  const id = await store({ first_name: ' ', last_name: ' ', email: 'ada@xn--mnchen-3ya.example' })
  expect(await ask('application', { application: id })).toMatchObject({
    application: { name: 'ada@münchen.example', shown_email: 'ada@münchen.example' },
  })
})
