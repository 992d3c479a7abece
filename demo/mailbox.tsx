import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { renderToStaticMarkup } from 'react-dom/server'

import { calendarFileName } from '../src/application/calendar.ts'
import { light } from '../src/design/palette.ts'
import type { ReceivedMail } from '../test/support/mail-server.ts'
import { readMail } from './read-mail.ts'

const style = `
body { margin: 0 auto; max-width: 44rem; padding: 1rem; background: ${light.sky}; color: ${light.ink}; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
article { margin: 1rem 0; padding: 1rem 1.25rem; background: ${light.paper}; border-radius: .375rem; }
h1 { font: 2rem/1.2 Palatino, Georgia, serif; }
h2 { margin: 0; font-size: 1.0625rem; }
p { margin: 0; color: ${light['ink-quiet']}; }
pre { margin: .75rem 0 0; font: inherit; white-space: pre-wrap; }
a { color: ${light.focus}; }`

/** A text with its web addresses as links. */
function TextWithLinks({ text }: { text: string }) {
  return text.split(/(https?:\/\/[^\s<>"]+)/).map((part, index) =>
    index % 2 === 1 ? (
      <a key={index} href={part} target="_blank" rel="noreferrer">
        {part}
      </a>
    ) : (
      part
    ),
  )
}

function Mailbox({ emails }: { emails: readonly ReceivedMail[] }) {
  const newestFirst = emails.toSorted((a, b) => b.at.getTime() - a.at.getTime())
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Emails · Unplugged.</title>
        <style dangerouslySetInnerHTML={{ __html: style }} />
      </head>
      <body>
        <h1>Emails</h1>
        <p>Emails of the demonstration arrive here. Reload to see new ones.</p>
        {newestFirst.map(({ at, to, raw }, index) => {
          const { subject, text, calendar } = readMail(raw)
          return (
            <article key={index}>
              <h2>{subject}</h2>
              <p>
                To {to.join(', ')} ·{' '}
                <time dateTime={at.toISOString()}>
                  {at.toLocaleString('en-GB', { dateStyle: 'long', timeStyle: 'short' })}
                </time>
              </p>
              <pre>
                <TextWithLinks text={text} />
              </pre>
              {calendar !== undefined && (
                <p>
                  Attached:{' '}
                  <a
                    download={calendarFileName}
                    href={`data:text/calendar;charset=utf-8,${encodeURIComponent(calendar)}`}
                  >
                    {calendarFileName}
                  </a>
                </p>
              )}
            </article>
          )
        })}
      </body>
    </html>
  )
}

/**
 * Serves a page on the loopback address that shows all emails so far, the newest first.
 *
 * @returns The page's address, and a function that ends the page's server.
 */
export async function serveMailbox(
  emails: readonly ReceivedMail[],
): Promise<{ address: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const isMailbox = request.method === 'GET' && request.url === '/'
    response.writeHead(isMailbox ? 200 : 404, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    response.end(
      isMailbox
        ? `<!doctype html>${renderToStaticMarkup(<Mailbox emails={emails} />)}`
        : 'There is nothing here.',
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
