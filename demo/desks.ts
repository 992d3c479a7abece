import { createDesk, type CallDesk } from '../src/client/desk.ts'
import { addOrganiser } from '../src/server/auth/manage-organisers.ts'
import { openSession } from '../src/server/auth/sessions/sessions.ts'
import { callFunction, readDeskFunctions } from '../src/server/rest/functions.ts'
import { sqlOf, type Sql } from '../src/server/database/connection/sql.ts'

/** The organisers who decide about the applications. The visitor of the demonstration signs in as the first of them. */
export const organisers = [
  { email: 'ines@unplugged.example', name: 'Ines' },
  { email: 'tomasz@unplugged.example', name: 'Tomasz' },
  { email: 'mara@unplugged.example', name: 'Mara' },
] as const

/**
 * Signs the organisers in. Returns `calls`, which has a function for each organiser that calls the desk's functions as the data
 * interface does, and `close`, which signs the organisers out.
 */
export async function openDesks(sql: Sql) {
  const functions = await readDeskFunctions(sql)
  const sessions: string[] = []
  const calls: CallDesk[] = []
  for (const { email, name } of organisers) {
    await addOrganiser(sql, email, { name })
    const claims = await sql.begin(async (transaction) => {
      const [account] = await transaction<[{ id: string }]>`select id from auth.users where email = ${email}`
      const { session } = await openSession(transaction, account.id, 'magiclink')
      sessions.push(session.id)
      return JSON.stringify({ sub: account.id, session_id: session.id, role: 'authenticated' })
    })
    const caller = sqlOf({
      run: (text, parameters, options) =>
        sql.begin(async (transaction) => {
          await transaction`select set_config('request.jwt.claims', ${claims}, true)`
          return transaction.unsafe(text, parameters, options)
        }),
      begin: (mode, work) => sql.begin(mode, work),
    })
    calls.push(
      createDesk(async (call, parameters) => {
        const deskFunction = functions.get(call)
        if (deskFunction === undefined) throw new Error(`there is no ${call}`)
        return JSON.parse(
          await callFunction(caller, deskFunction, JSON.stringify(parameters), Object.keys(parameters)),
        ) as unknown
      }),
    )
  }
  return { calls, close: () => sql`delete from auth.sessions where id = any(${sessions})` }
}
