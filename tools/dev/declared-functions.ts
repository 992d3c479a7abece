import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

import { schemaFolders } from '../../test/support/catalogue.ts'
import { connectToEmbedded } from '../../test/support/sql.ts'
import { statementsOf } from '../statements.ts'
import { saveGap } from './server.ts'

const functionName = /^create function ([\w.]+)/m

/** Runs the changes of the declared schema in a database. */
export interface DeclaredFunctions {
  /**
   * Replaces the functions that changed in a file, in the embedded database under `dataDir`. Prints a sentence about every other
   * change.
   */
  update: (path: string, dataDir: string) => Promise<void>
}

/** Reads the schema that is declared now. */
export async function readDeclaredFunctions(): Promise<DeclaredFunctions> {
  const known = new Map<string, string[]>()
  for (const folder of schemaFolders) {
    for (const name of await readdir(folder)) {
      const path = join(folder, name)
      known.set(path, statementsOf(await readFile(path, 'utf8')))
    }
  }
  return {
    async update(path, dataDir) {
      // A program that saves a file may empty it first.
      await wait(saveGap)
      const former = known.get(path) ?? []
      const statements = statementsOf(await readFile(path, 'utf8').catch(() => ''))
      const names = new Set(former.map((each) => functionName.exec(each)?.[1]))
      const changed = statements.filter((each) => !former.includes(each))
      const functions = changed.filter((each) => names.has(functionName.exec(each)?.[1] ?? ''))
      const sql = connectToEmbedded(dataDir)
      try {
        await sql.begin(async (transaction) => {
          for (const each of functions)
            await transaction.unsafe(each.replace(/^create function/m, 'create or replace function'))
        })
        known.set(path, statements)
        for (const each of functions) console.log(`Replaced in the database: ${functionName.exec(each)?.[1]}`)
        if (changed.length > functions.length || statements.length < former.length) {
          console.error(`${path} declares more than the database has: run npm run schema.`)
        }
      } catch (error) {
        console.error(`${path} is not in the database: ${(error as Error).message}.`)
      } finally {
        await sql.end(1_000)
      }
    },
  }
}
