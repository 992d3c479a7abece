/** The demonstration, `npm run demo`: a server on a separate database, filled with invented people. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

import { deskLink } from '../src/server/auth/mail/links.ts'
import { operatorSecret } from '../src/server/auth/organisers.ts'
import { openDatabase } from '../src/server/database/database.ts'
import { codeOf } from '../src/server/database/programs.ts'
import { OperatorError, runProgram } from '../src/settings/operator-error.ts'
import { readNumber } from '../src/settings/values.ts'
import { startMailServer } from '../test/support/mail-server.ts'
import { freePort } from '../test/support/ports.ts'
import { organisers } from './desks.ts'
import { refuseClosedDomain, fill, sender } from './fill.ts'
import { makeFolder, removeLeftovers } from './folder.ts'
import { serveMailbox } from './mailbox.tsx'
import { connectToEmbedded } from '../test/support/sql.ts'

/** The environment variables that the demonstration reads: paths, the port and the time zone. */
const keptVariables = ['PORT', 'PATH', 'HOME', 'TMPDIR', 'TZ']

const stopping = new AbortController()
const stopped = once(stopping.signal, 'abort')
const stop = () => stopping.abort()
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
// When the terminal closes, writing causes an error.
for (const output of [process.stdout, process.stderr]) output.on('error', stop)

/** Functions that undo the steps so far. They run at the end, the last first. */
const cleanups: (() => Promise<unknown>)[] = []

/** Finds a port before the database is filled, because filling takes seconds. */
async function findPort() {
  const wanted = readNumber(process.env, 'PORT', 3000, 65_535)
  try {
    return await freePort(wanted)
  } catch (cause) {
    const code = codeOf(cause)
    throw new OperatorError(
      code === 'EADDRINUSE'
        ? `PORT is "${wanted}", which is in use (${code}): stop the program there, or set another PORT.`
        : `PORT is "${wanted}", which cannot be used (${code}): set another PORT.`,
      { cause },
    )
  }
}

/** Starts a program that ends the database if this process is killed. */
function startReaper(path: string) {
  const child = spawn(process.execPath, ['demo/reaper.js', path], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  const exited = once(child, 'exit')
  cleanups.push(async () => {
    child.stdin.end()
    await exited
  })
}

/** Starts the server. Resolves when it is ready, with an object whose `ended` resolves when it ends. */
async function startServer(settings: Record<string, string>) {
  const { PORT: _, ...environment } = process.env
  const child = spawn(
    process.execPath,
    ['--import', './demo/with-parent.js', join('build', 'server.js')],
    // A separate process group, so that Ctrl-C reaches only this process.
    { env: { ...environment, ...settings }, stdio: ['pipe', 'pipe', 'pipe'], detached: true },
  )
  const exited = once(child, 'exit')
  cleanups.push(async () => {
    child.kill('SIGTERM')
    await exited
  })
  let output = ''
  await new Promise<void>((resolve, reject) => {
    exited.then(() => reject(new Error(`The server ended:\n${output}`)), reject)
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes(' is ready at ')) resolve()
    }
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
  })
  child.stdout.removeAllListeners('data').resume()
  child.stderr.removeAllListeners('data').resume()
  return { ended: exited }
}

/** Starts everything. Resolves when the server is ready, with an object whose `ended` resolves when the server ends. */
async function start(signal: AbortSignal) {
  const port = await findPort()
  const site = `http://127.0.0.1:${port}`
  await removeLeftovers()
  const folder = await makeFolder()
  cleanups.push(folder.remove)
  startReaper(folder.path)
  signal.throwIfAborted()
  const database = await openDatabase({ dataDir: folder.path, databaseUrl: undefined }, { schema: 'migrate' })
  cleanups.push(database.discard)
  signal.throwIfAborted()
  const mail = await startMailServer({ refusalAt: refuseClosedDomain })
  cleanups.push(() => mail.close())
  const mailbox = await serveMailbox(mail.received)
  cleanups.push(mailbox.close)

  const sql = connectToEmbedded(folder.path)
  try {
    // Commits need not wait for the disk, because the demonstration does not survive a power cut.
    await sql`set synchronous_commit = off`
    console.log('Filling in invented applications and letters. This takes up to a minute.')
    await fill({ sql, mail, site, signal })
    const server = await startServer({
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: folder.path,
      SITE_URL: site,
      SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      MAIL_FROM: `${sender.name} <${sender.address}>`,
    })
    signal.throwIfAborted()
    const [email] = organisers
    const link = deskLink(new URL(site), { secret: await operatorSecret(sql, email), type: 'magiclink' })
    console.log(`
This is a demonstration: all people are invented, and nothing leaves this machine.
Ctrl-C ends it and removes everything.

The page:   ${site}/
The desk:   ${link}
            signs ${email} in once, within an hour; afterwards, ask there for a code by email
Its emails: ${mailbox.address}
`)
    return server
  } finally {
    await sql.end(1_000)
  }
}

await runProgram(async () => {
  for (const name of Object.keys(process.env)) if (!keptVariables.includes(name)) delete process.env[name]
  try {
    const { ended } = await start(stopping.signal)
    await Promise.race([ended, stopped])
    stopping.signal.throwIfAborted()
    throw new OperatorError('The server of the demonstration ended unexpectedly.')
  } catch (error) {
    if (!stopping.signal.aborted) throw error
  } finally {
    for (const undo of cleanups.toReversed()) await undo()
    if (stopping.signal.aborted) console.log('The demonstration has ended, and everything is removed.')
  }
})
process.exit()
