import { expect, test } from 'vitest'

import { blameOf, withoutAddresses, type Blame } from './refusals.ts'

const replies: Record<Blame, string[]> = {
  email: [
    '550 5.1.1 The email account that you tried to reach does not exist.',
    '550-5.1.1 no such user 550 5.1.1 here',
    '550 5.1.2 no such host',
    '501 5.1.3 bad address syntax',
    '550 5.1.6 has moved',
    '556 5.1.10 the domain accepts no mail',
    '550 5.2.1 disabled',
    '452 4.2.2 mailbox full',
    '552 5.2.3 too long',
    '552 5.3.4 Message too big for system',
    '450 4.2.0 Recipient address rejected: Greylisted',
    '451 4.7.1 Greylisting in action, please come back in 00:05:00',
    '451 greylisted, please try again',
    '450 4.7.1 <ada@example.com>: Recipient address rejected: Grey-listed for 60 seconds',
  ],
  all: [
    '550-5.4.5 Daily user sending limit exceeded.',
    '451 4.4.5 congested',
    '452 4.3.1 Insufficient system storage',
    '554 5.3.2 not accepting mail',
    '452 4.5.3 Too many recipients',
    '530 5.7.1 Authentication required',
    '530 Must issue STARTTLS first',
    '535 5.7.8 bad credentials',
    '550 5.7.26 Unauthenticated email is not accepted.',
    '550 5.7.28 mail flood',
    '550 5.1.8 Access denied, bad outbound sender',
    '553 5.1.7 bad sender',
  ],
  unclear: [
    '550 5.7.1 Relaying denied',
    '554 5.7.1 Service unavailable; Client host blocked using zen.example.org',
    '553 5.7.1 Sender address rejected: not owned by user',
    '550 no such user',
    '554 Transaction failed',
    '451 come back later',
    '451 4.7.1 try again later',
    '550 5.7.1 permanently greylisted',
    '550 5.0.0 no',
    '550 5.1.0 no',
    '550 5.6.0 no',
    // No enhanced codes: more digits, and a status that is not the reply's own.
    '550 15.1.1.7 is not allowed',
    '550 see 5.1.1',
    'The connection broke.',
  ],
}

test.each(Object.entries(replies).flatMap(([blame, texts]) => texts.map((text) => [text, blame])))(
  'the refusal "%s" is about: %s',
  (reply, blame) => {
    const code = Number(/^\d{3}/.exec(reply)?.[0]) || null
    expect(blameOf({ result: 'failed', code, reply })).toBe(blame)
  },
)

test("a mail server's words are shown without email addresses, even within links", () => {
  const reply = '550 <ada@example.com>: see https://x.example/?r=ada%40example.com or call us'
  expect(withoutAddresses(reply)).toBe('550 (address) see (address) or call us')
})
