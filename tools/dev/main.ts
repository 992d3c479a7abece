/**
 * `npm run dev`: the whole product behind Vite, with the invented people of the demonstration, or with the database that
 * `DATABASE_URL` or `DATA_DIR` names. The server starts again when its sources change.
 */
import { createServer, type ViteDevServer } from 'vite'

import { findPort } from '../../demo/find-port.ts'
import { runUntilStopped } from '../../demo/program.ts'
import { readEnvironment } from '../env-files.ts'
import { startDemonstration, type Demonstration } from './demonstration.ts'
import { devPages } from './plugin.ts'
import { createDevServer } from './server.ts'

await runUntilStopped(async ({ signal, stopped, atEnd }) => {
  const port = await findPort(5173)
  const site = `http://127.0.0.1:${port}`
  let vite: ViteDevServer | undefined
  let demonstration: Demonstration | undefined
  let isOutdated = false

  const environment = async () => {
    const settings = readEnvironment('development')
    if (settings['DATABASE_URL'] || settings['DATA_DIR']) {
      return { ...settings, HOST: '127.0.0.1', PORT: '0', SITE_URL: settings['SITE_URL'] || site }
    }
    if (isOutdated) {
      await demonstration?.end()
      demonstration = undefined
    }
    demonstration ??= startDemonstration(site)
    isOutdated = false
    // After a failure, the next start tries it again.
    return demonstration.environment.catch((error: unknown) => {
      isOutdated = true
      throw error
    })
  }
  atEnd(async () => demonstration?.end())
  const server = createDevServer({
    environment,
    signal,
    invoke: async (payload) => vite?.environments['server']?.hot.handleInvoke(payload),
  })
  atEnd(server.end)
  const started = await createServer({
    server: { host: '127.0.0.1', port, strictPort: true },
    plugins: [
      devPages({
        server,
        onStart: (next) => {
          vite = next
          server.restart()
        },
        // A new migration is applied by the server. An edited one needs a new database.
        onMigrationChange: ({ type }) => {
          isOutdated ||= type !== 'create'
        },
      }),
    ],
  })
  atEnd(() => (vite ?? started).close())
  await started.listen()
  console.log(`The product is at ${site}/`)
  await stopped
}, 'Stopped.')
