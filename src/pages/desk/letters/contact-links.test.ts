import { expect, test } from 'vitest'

import { linkedInLink, mailLink, mailProgramLink, phoneLink } from './contact-links.ts'

test.each([
  ['ada@example.com', 'mailto:ada@example.com'],
  ["o'hara+x@sub.example.co.uk", "mailto:o'hara%2Bx@sub.example.co.uk"],
  ['a?bcc=all@example.com', 'mailto:a%3Fbcc%3Dall@example.com'],
  ['ada@example.com?bcc=all@example.com', undefined],
  ['ada@example.com?cc=x', 'mailto:ada@example.com%3Fcc%3Dx'],
  ['ada@example.com\u200b', 'mailto:ada@example.com'],
  ['\u00a0ada@example.com\n', 'mailto:ada@example.com'],
  ['ada@münchen.example', 'mailto:ada@xn--mnchen-3ya.example'],
  ['ada@xn--mnchen-3ya.example', 'mailto:ada@xn--mnchen-3ya.example'],
  ['ada@ü%.example', undefined],
  ['ada@localhost', undefined],
  ['javascript:alert(1)@example.com', undefined],
  ['ada@example.com\nbcc: all@example.com', undefined],
])('the email %j leads to %s', (email, link) => {
  expect(mailLink(email)).toBe(link)
})

test.each([
  ['+44 (20) 7946-0958', 'tel:+442079460958'],
  ['020 7946 0958', 'tel:02079460958'],
  [' +44 123', 'tel:+44123'],
  ['+49 (0)151 1234567', 'tel:+491511234567'],
  ['+49 (0151) 1234567', 'tel:+491511234567'],
  ['+49 0151 1234567', 'tel:+491511234567'],
  ['(+49) (0) 151 1234567', 'tel:+491511234567'],
  ['0049 (0)151/1234567', 'tel:00491511234567'],
  ['+225 (0)7 12 34 56 78', 'tel:+2250712345678'],
  ['+226 01 23 45 67', 'tel:+22601234567'],
  ['+229 01 90 01 12 34', 'tel:+2290190011234'],
  ['+241 06 03 12 34', 'tel:+24106031234'],
  ['+242 06 612 3456', 'tel:+242066123456'],
  ['+250 (0)788 123 456', 'tel:+250788123456'],
  ['+378 (0549) 886377', 'tel:+3780549886377'],
  ['+992 00 123 4567', 'tel:+992001234567'],
  ['+1 (202) 555-0100', 'tel:+12025550100'],
  ['+353 (0)1 234 5678', 'tel:+35312345678'],
  ['+49\u20110151 1234567', 'tel:+491511234567'],
  ['030 2001 0123', 'tel:03020010123'],
  ['( +44) 20 7946 0958', 'tel:+442079460958'],
  ['(020) 7946 0958', 'tel:02079460958'],
  ['+30 210 0123456', 'tel:+302100123456'],
  ['+４９ １５１ １２３４５６７', 'tel:+491511234567'],
  ['\u202a+49 151\u20111234567\u202c', 'tel:+491511234567'],
  ['٠١٢٣٤٥٦٧٨٩', 'tel:0123456789'],
  ['12345', 'tel:12345'],
  ['1234', undefined],
  ['123456789012345', 'tel:123456789012345'],
  ['none', undefined],
  ['12', undefined],
  ['+44 20 7946 0958 ext 3', undefined],
  ['tel:123456', undefined],
  ['1234567890123456', undefined],
])('the telephone number %j leads to %s', (phone, link) => {
  expect(phoneLink(phone)).toBe(link)
})

test.each(['39', '225', '226', '229', '241', '242', '378', '992'])(
  'a number of the country +%s keeps the zero after the code',
  (country) => {
    expect(phoneLink(`+${country} 01 234567`)).toBe(`tel:+${country}01234567`)
  },
)

// break: linkedin-lookalike-linked
test.each([
  ['https://www.linkedin.com/in/ada', 'https://www.linkedin.com/in/ada'],
  ['http://uk.linkedin.com/in/ada', 'http://uk.linkedin.com/in/ada'],
  ['https://m1.linkedin.com/in/ada', 'https://m1.linkedin.com/in/ada'],
  ['linkedin.com/in/ada', 'https://linkedin.com/in/ada'],
  ['in/ada', 'https://www.linkedin.com/in/ada'],
  ['\u200bin/ada\u00a0', 'https://www.linkedin.com/in/ada'],
  [' in/ada\n', 'https://www.linkedin.com/in/ada'],
  ['in/ada/detail', undefined],
  ['x in/ada', undefined],
  ['linkedin.com/redir?to=http://x', 'https://linkedin.com/redir?to=http://x'],
  ['https://:secret@linkedin.com/in/ada', undefined],
  ['xhttps://linkedin.com/in/ada', undefined],
  ['https2://linkedin.com/in/ada', undefined],
  ['/in/ada/', 'https://www.linkedin.com/in/ada/'],
  ['javascript:alert(1)', undefined],
  ['JaVaScRiPt://linkedin.com/%0aalert(1)', undefined],
  ['data:text/html,linkedin.com', undefined],
  ['https://linkedin.com.example.org/in/ada', undefined],
  ['https://evillinkedin.com/in/ada', undefined],
  ['https://linkedin.com@example.org/', undefined],
  ['https://user@linkedin.com/in/ada', undefined],
  ['ada lovelace', undefined],
  ['ada', undefined],
  ['', undefined],
])('the LinkedIn page %j leads to %s', (input, link) => {
  expect(linkedInLink(input)).toBe(link)
})

test('a letter opens in an email program with its whole text, addressed to its recipient only', () => {
  const letter = { to: 'a?bcc=all@example.org', subject: 'Zoë & 50% = ?', body: 'Hello\n\n&bcc=b@c.d\r\n#' }
  expect(mailProgramLink(letter)).toBe(
    'mailto:a%3Fbcc%3Dall@example.org?subject=Zo%C3%AB%20%26%2050%25%20%3D%20%3F' +
      '&body=Hello%0D%0A%0D%0A%26bcc%3Db%40c.d%0D%0A%23',
  )
})

test.each([null, 'nobody', 'a@b, c@d'])(
  'a recipient that is not exactly one valid email has no link: %s',
  (to) => {
    expect(mailProgramLink({ to, subject: 's', body: 'b' })).toBeUndefined()
  },
)
