/**
 * The demonstration, `npm run demo`: a server on a separate database, filled with invented people. The development server starts
 * it with an argument, the site's address: then it has no server, and sends the environment of one to its parent process.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { deskLink } from '../src/server/auth/mail/links.ts'
import { operatorSecret } from '../src/server/auth/manage-organisers.ts'
import { openDatabase } from '../src/server/database/database.ts'
import { OperatorError } from '../src/settings/operator-error.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { connectToEmbedded } from '../test/support/sql.ts'
import { organisers } from './desks.ts'
import { refuseClosedDomain, fill, sender } from './fill.ts'
import { findPort } from './find-port.ts'
import { makeFolder, removeLeftovers } from './folder.ts'
import { serveMailbox } from './mailbox.tsx'
import { runUntilStopped, type Run } from './program.ts'
import { startServer } from './server.ts'

/** The environment variables that the demonstration reads: paths, the port and the time zone. */
const keptVariables = ['PORT', 'PATH', 'HOME', 'TMPDIR', 'TZ']

/** The address of a site whose server the parent process starts. */
const [siteOfParent] = process.argv.slice(2)

/** Starts a program that ends the database if this process is killed. */
function startReaper(path: string, atEnd: Run['atEnd']) {
  const child = spawn(process.execPath, ['demo/reaper.js', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const exited = once(child, 'exit')
  atEnd(async () => {
    child.stdin.end()
    await exited
  })
}

/** Makes everything. Resolves with an object whose `ended` resolves when the server ends, or without one when a signal comes. */
async function start({ signal, stopped, atEnd }: Run) {
  // The port is found before the database is filled, because filling takes seconds.
  const site = siteOfParent ?? `http://127.0.0.1:${await findPort(3000)}`
  await removeLeftovers()
  const folder = await makeFolder()
  atEnd(folder.remove)
  startReaper(folder.path, atEnd)
  signal.throwIfAborted()
  const database = await openDatabase({ dataDir: folder.path, databaseUrl: undefined }, { schema: 'migrate' })
  atEnd(database.discard)
  signal.throwIfAborted()
  const mail = await startMailServer({ refusalAt: refuseClosedDomain })
  atEnd(() => mail.close())
  const mailbox = await serveMailbox(mail.received)
  atEnd(mailbox.close)

  const sql = connectToEmbedded(folder.path)
  try {
    // Commits need not wait for the disk, because the demonstration does not survive a power cut.
    await sql`set synchronous_commit = off`
    console.log('Filling in invented applications and letters. This takes up to a minute.')
    await fill({ sql, mail, site, signal })
    const environment = {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: siteOfParent === undefined ? new URL(site).port : '0',
      DATA_DIR: folder.path,
      SITE_URL: site,
      SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      MAIL_FROM: `${sender.name} <${sender.address}>`,
    }
    const server = siteOfParent === undefined ? await serve(environment, atEnd) : { ended: stopped }
    signal.throwIfAborted()
    const [{ email }] = organisers
    const link = deskLink(new URL(site), { secret: await operatorSecret(sql, email), type: 'magiclink' })
    console.log(`
This is a demonstration: all people are invented, and nothing leaves this machine.
Ctrl-C ends it and removes everything.

The page:   ${site}/
The desk:   ${link}
            signs ${email} in once, within an hour; afterwards, ask there for a code by email
Its emails: ${mailbox.address}
`)
    process.send?.(environment)
    return server
  } finally {
    await sql.end(1_000)
  }
}

/** Starts the server. Resolves when it is ready, with an object whose `ended` resolves when it ends. */
async function serve(environment: NodeJS.ProcessEnv, atEnd: Run['atEnd']) {
  const { child, ready, ended } = startServer([join('build', 'server.js')], environment)
  atEnd(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await ready
  return { ended }
}

await runUntilStopped(async (run) => {
  for (const name of Object.keys(process.env)) if (!keptVariables.includes(name)) delete process.env[name]
  const { ended } = await start(run)
  await Promise.race([ended, run.stopped])
  run.signal.throwIfAborted()
  throw new OperatorError('The server of the demonstration ended unexpectedly.')
}, 'The demonstration has ended, and everything is removed.')
