import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { refuseWritableByOthers } from '../src/server/database/postgres/disk.ts'
import {
  acceptsConnections,
  folder,
  port,
  socketOf,
  stopPostgresOn,
} from '../src/server/database/postgres/start-stop.ts'

const prefix = 'unplugged-demo-'
/** A socket that listens while the folder is in use. A plain file would still mark the folder after a kill. */
const markFile = '.used.sock'
/** An unmarked folder that is older than this many milliseconds is abandoned, because each new folder is marked at once. */
const longestUnmarked = 60_000

/** The folder of a demonstration. */
export interface Folder {
  path: string
  remove: () => Promise<void>
}

/** Makes a folder in the system's temporary directory, and marks it as used. */
export async function makeFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), prefix))
  const server = createServer((socket) => socket.destroy()).listen(join(path, markFile))
  await once(server, 'listening')
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true })
      server.close()
    },
  }
}

/** Removes the folders of demonstrations that were killed, and ends the databases that still run in them. */
export async function removeLeftovers(): Promise<void> {
  const names = (await readdir(tmpdir())).filter((name) => name.startsWith(prefix))
  for (const path of names.map((name) => join(tmpdir(), name))) {
    // Another demonstration may remove the same folder, and some folders belong to other users.
    await removeLeftover(path).catch(() => {})
  }
}

async function removeLeftover(path: string) {
  await refuseWritableByOthers('DATA_DIR', path)
  const age = Date.now() - (await stat(path)).mtimeMs
  const isUsed = await acceptsConnections(join(path, markFile))
  const isMarked = await stat(join(path, markFile)).then(
    () => true,
    () => false,
  )
  if (isUsed || (!isMarked && age < longestUnmarked)) return
  const files = { dataDir: path, folder, port }
  if (await acceptsConnections(socketOf(files))) await stopPostgresOn(files)
  await rm(path, { recursive: true, force: true })
}
