import type { AddressInfo } from 'node:net'

import { createApp } from './http/app.ts'
import { openDatabase } from './database/database.ts'
import { logOptions } from './log.ts'
import { OperatorError, runProgram } from './operator-error.ts'
import { readSettings, type Settings } from './settings.ts'
import { startDispatcher } from './webhook/dispatcher.ts'

/** Starts the server, and stops it in order when it is asked to. */
async function main() {
  const settings = readSettings()
  const { host, port, webhookUrl, webhookSecret } = settings
  const database = await openDatabase(settings, {
    holder: `the server on ${host}:${port}, process ${process.pid}`,
    onEvent: (message) => app?.log.warn(message),
  })
  const app = await createApp({ settings, database, onStored: () => dispatcher?.wake(), logger: logOptions })
  const dispatcher =
    webhookUrl === undefined
      ? undefined
      : startDispatcher({
          sql: database.owner,
          receiver: { url: webhookUrl, secret: webhookSecret },
          log: app.log,
        })

  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= stopInOrder()
    return stopping
  }
  const stopInOrder = async () => {
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
  // Also more than once: Ctrl-C reaches this process from the terminal and again from npm.
  process.on('SIGTERM', () => void stop())
  process.on('SIGINT', () => void stop())

  const { port: listening } = app.server.address() as AddressInfo
  console.log(`The applications are in ${database.description}.`)
  console.log(
    webhookUrl === undefined
      ? 'No webhook is set (WEBHOOK_URL).'
      : `The webhook is ${new URL(webhookUrl).origin}.`,
  )
  console.log(`Unplugged. is ready at http://${host.includes(':') ? `[${host}]` : host}:${listening}/`)
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
