import { expect, test } from 'vitest'

import { mailProgramLink } from './mailto.ts'

test('a letter opens in the own mail program as it is, and addresses nobody else', () => {
  const letter = { to: 'a?bcc=all@example.org', subject: 'Zoë & 50% = ?', body: 'Hello\n\n&bcc=b@c.d\r\n#' }
  expect(mailProgramLink(letter)).toBe(
    'mailto:a%3Fbcc%3Dall@example.org?subject=Zo%C3%AB%20%26%2050%25%20%3D%20%3F' +
      '&body=Hello%0D%0A%0D%0A%26bcc%3Db%40c.d%0D%0A%23',
  )
})

test.each([null, 'nobody', 'a@b, c@d'])('who cannot be addressed has no link: %s', (to) => {
  expect(mailProgramLink({ to, subject: 's', body: 'b' })).toBeUndefined()
})
