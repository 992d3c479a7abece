import { beforeAll, expect, test } from 'vitest'

import { startNameServer } from '../../../test/support/name-server.ts'
import { checkSender } from './sender-domain.ts'

const spf = ['v=spf1 include:mail.example -all']
const dmarc = { TXT: ['v=DMARC1; p=none'] }
const complete = { MX: ['mx.mail.example'], TXT: ['other=1', ...spf] }

let server: Awaited<ReturnType<typeof startNameServer>>

beforeAll(async () => {
  server = await startNameServer({
    'good.example': complete,
    '_dmarc.good.example': dmarc,
    'retreat.good.example': complete,
    '_dmarc.retreat.good.example': {},
    'xn--bcher-kva.example': complete,
    '_dmarc.xn--bcher-kva.example': dmarc,
    'by-address.example': { A: ['192.0.2.1'], TXT: spf },
    '_dmarc.by-address.example': dmarc,
    'bare.example': { A: [] },
    'no-mail.example': { MX: ['.'], TXT: spf },
    '_dmarc.no-mail.example': dmarc,
    'open.example': { MX: ['mx.mail.example'], TXT: ['v=spf1 a +all'] },
    '_dmarc.open.example': dmarc,
    'twice.example': { MX: ['mx.mail.example'], TXT: [...spf, 'v=spf1 -all'] },
    '_dmarc.twice.example': { TXT: ['v=DMARC1; p=none', 'v=DMARC1; p=reject'] },
    'long.example': { MX: ['mx.mail.example'], TXT: [`v=spf1 ${'ip4:192.0.2.1 '.repeat(30)}all`] },
    '_dmarc.long.example': dmarc,
    'silent.example': 'silence',
    '_dmarc.silent.example': 'silence',
    'broken.example': 'failure',
  })
})

test.each([
  ['has MX, SPF and DMARC', 'good.example', 'ok', /^good\.example has MX, SPF and DMARC\.$/],
  ['has the DMARC record of its parent', 'retreat.good.example', 'ok', /has MX, SPF and DMARC/],
  ['has non-ASCII characters', 'bücher.example', 'ok', /^xn--bcher-kva\.example has/],
  ['receives emails at its own address', 'by-address.example', 'ok', /has MX/],
  [
    'has nothing',
    'bare.example',
    'wrong',
    /has no MX, .* has no SPF, .* has no DMARC, .* at _dmarc\.bare\.example/,
  ],
  [
    'accepts no emails',
    'no-mail.example',
    'wrong',
    /^no-mail\.example says that it accepts no emails \(MX\)/,
  ],
  [
    'allows all servers to send',
    'open.example',
    'wrong',
    /^The SPF of open\.example allows every server to send for it/,
  ],
  [
    'allows all servers to send, at the end of a long record',
    'long.example',
    'wrong',
    /allows every server to send for it/,
  ],
  [
    'has two SPF and two DMARC records',
    'twice.example',
    'wrong',
    /has 2 SPF records, which counts as none.*has 2 DMARC records/,
  ],
  [
    'does not exist',
    'nothing.example',
    'wrong',
    /^MAIL_FROM is at nothing\.example, a domain that does not exist/,
  ],
  [
    'gets no DNS response',
    'silent.example',
    'not known',
    /^The name servers did not answer for silent\.example \(ETIMEOUT\)/,
  ],
  ['gets a DNS failure', 'broken.example', 'not known', /\(ESERVFAIL\)/],
  ['is not an Internet domain', 'localhost', 'not known', /^MAIL_FROM is at localhost/],
])('a sender domain that %s is reported', async (_what, domain, verdict, sentence) => {
  const finding = await checkSender(`hello@${domain}`, server.names)
  expect(finding).toEqual({ verdict, sentence: expect.stringMatching(sentence) as string })
})
