import type { AddressInfo } from 'node:net'
import pino from 'pino'

import { createApp } from './http/app.ts'
import { openDatabase } from './database/database.ts'
import { logDestination, logOptions } from './log.ts'
import { OperatorError, runProgram } from '../settings/operator-error.ts'
import { readSettings, type Settings } from '../settings/server-settings.ts'
import { startDispatcher } from './webhook/dispatcher.ts'

/** Runs the server until it is asked to stop. */
async function main() {
  const settings = readSettings()
  const starting = start(settings)
  let stopping: Promise<void> | undefined
  // A signal can come while the start is under way, and more than once: Ctrl-C reaches this process from the
  // terminal and again from npm.
  const stop = () => {
    stopping ??= starting.then(
      (server) => server.stop(),
      () => {},
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  await starting
}

async function start(settings: Settings) {
  const { host, port, webhookUrl, webhookSecret } = settings
  const log = pino(logOptions, logDestination)
  const database = await openDatabase(settings, {
    schema: 'migrate',
    holder: `the server on ${host}:${port}, process ${process.pid}`,
    onEvent: (message) => log.warn(message),
  })
  const dispatcher =
    webhookUrl === undefined
      ? undefined
      : startDispatcher({ sql: database.owner, receiver: { url: webhookUrl, secret: webhookSecret }, log })
  const app = await createApp({ settings, database, onStored: () => dispatcher?.wake(), log })
  const stop = async () => {
    await app.close()
    await dispatcher?.stop()
    await database.close()
  }
  try {
    await app.listen({ host, port })
  } catch (error) {
    await stop()
    throw listenFailure(error, settings)
  }

  const { port: listening } = app.server.address() as AddressInfo
  const shownHost = host.includes(':') ? `[${host}]` : host
  console.log(`The applications are in ${database.description}.`)
  console.log(
    webhookUrl === undefined
      ? 'No webhook is set (WEBHOOK_URL).'
      : `The webhook is at ${new URL(webhookUrl).origin}.`,
  )
  console.log(`Unplugged. is ready at http://${shownHost}:${listening}/`)
  return { stop }
}

function listenFailure(error: unknown, { host, port }: Settings) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EADDRINUSE') {
    return new OperatorError(
      `PORT is "${port}", which another program listens on: stop that one, or set PORT to another.`,
    )
  }
  if (code === 'EACCES') {
    return new OperatorError(
      `PORT is "${port}", which this user may not listen on: set PORT to 1024 or more.`,
    )
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new OperatorError(
      `HOST is "${host}" but should be an address of this machine, such as 127.0.0.1 or 0.0.0.0.`,
    )
  }
  return error
}

await runProgram(main)
