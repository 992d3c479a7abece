import { once } from 'node:events'
import { chmod, cp, mkdir, readdir, rename, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { basename, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import type { Retreat } from '../../../src/application/calendar.ts'
import { createDesk } from '../../../src/client/desk.ts'
import { startDemonstration } from '../../support/demonstration.ts'
import { signInByLink } from '../../support/sign-in-by-link.ts'
import { startReceiver, type Receiver } from '../../support/receiver.ts'
import { temporaryDirectory } from '../../support/server.ts'
import { copyCheckout } from '../../support/static-site.ts'
import { connectToEmbedded } from '../../support/sql.ts'

/** A folder that settings name. The demonstration ignores them, so it must write nothing to this folder. */
let elsewhere: string
/** The temporary directory, in which the demonstration makes its folder. */
let temporary: string
let checkout: string
let receiver: Receiver

beforeAll(async () => {
  const directory = await temporaryDirectory()
  // The database may run as another user.
  await chmod(directory.path, 0o755)
  elsewhere = join(directory.path, 'elsewhere')
  temporary = join(directory.path, 'tmp')
  await mkdir(elsewhere)
  await mkdir(temporary)
  receiver = await startReceiver()
  checkout = await copyCheckout(join(directory.path, 'checkout'))
  for (const name of ['dist', 'build']) await cp(name, join(checkout, name), { recursive: true })
  await utimes(join(checkout, 'dist', 'assets', 'complete'), Date.now() / 1000, Date.now() / 1000)
  const settings = {
    DATA_DIR: join(elsewhere, 'data'),
    HOST: '0.0.0.0',
    WEBHOOK_URL: receiver.origin,
    WEBHOOK_DECISIONS_URL: receiver.origin,
    VITE_SUPABASE_URL: receiver.origin,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`)
  await writeFile(join(checkout, '.env'), lines.join(''))
})

/** Makes the folder of a demonstration, marked as used. After `abandon` it is like the folder of a killed one. */
async function createFolder(name: string) {
  const path = join(temporary, `unplugged-demo-${name}`)
  await mkdir(path, { mode: 0o700 })
  const server = createServer().listen(join(path, 'new.sock'))
  await once(server, 'listening')
  // After a rename, Node.js does not remove the file when the server closes.
  await rename(join(path, 'new.sock'), join(path, '.used.sock'))
  const abandon = async () => {
    server.close()
    await once(server, 'close')
  }
  return { path, abandon }
}

/** Runs the demonstration with settings that it must ignore. */
function runDemo() {
  const { PATH = '', HOME = '' } = process.env
  return startDemonstration(
    {
      PATH,
      HOME,
      TMPDIR: temporary,
      PORT: '0',
      DATABASE_URL: `${receiver.origin.replace('http', 'postgres')}/real`,
      PGHOST: elsewhere,
      SMTP_URL: receiver.origin.replace('http', 'smtp'),
      MAIL_FROM: 'real@example.org',
      WEBHOOK_URL: receiver.origin,
      BACKUP_DIR: elsewhere,
      SITE_URL: 'https://example.org',
      TRUST_PROXY: '1',
    },
    checkout,
  )
}

/** Connects to the database of the running demonstration, as its owner. */
async function connect() {
  const name = (await readdir(temporary)).find((each) => !each.endsWith('-used'))
  const path = join(temporary, name ?? '')
  const sql = connectToEmbedded(path)
  await sql`select 1`
  return sql
}

test('the demonstration has people and letters, ignores all settings, and removes everything when it ends', async () => {
  const used = await createFolder('used')
  await (await createFolder('killed')).abandon()
  const demo = runDemo()
  const [page, link, emailsAddress] = await Promise.all(
    ['The page', 'The desk', 'Its emails'].map(demo.waitForValue),
  )
  expect(await (await fetch(page ?? '')).text()).toContain('Unplugged.')
  // The folder of another running demonstration is kept, and the folder of a killed one is removed.
  expect(await readdir(temporary)).toEqual(expect.arrayContaining([basename(used.path)]))
  expect(await readdir(temporary)).toHaveLength(2)
  const sql = await connect()

  const { origin } = new URL(page ?? '')
  const { client, refused } = await signInByLink(origin, link ?? '')
  expect(refused).toBe(null)
  const desk = createDesk(async (name, parameters) => {
    const { data } = await client.rpc(name, parameters).throwOnError()
    return data as unknown
  })
  const query = { filter: {}, zone: 'UTC', shown: [], oldest: null }
  const { counts } = (await desk('desk_refresh', query)).overview
  expect(counts.all.count).toBe(200)
  const places = await desk('desk_places', {})
  const { coming, not_coming: notComing, no_answer: noAnswer, late, not_told: notTold } = places
  for (const count of [coming, notComing, noAnswer, late, notTold]) expect(count).toBeGreaterThan(0)
  expect(coming + notComing + noAnswer + notTold).toBe(counts.accepted.count)
  expect(places).toMatchObject({ places: 40, free: 40 - coming - noAnswer - notTold, site: origin })
  const { states } = await desk('desk_letters', {})
  expect([states.waiting.count, states.refused.count]).toEqual([expect.any(Number), 2])

  const { letters } = await desk('desk_drafts', { occasion: 'accepted', after: null })
  const [letter] = letters
  if (letter === undefined) throw new Error('there is no draft')
  const act = crypto.randomUUID()
  const { id, seen } = letter
  await desk('desk_release', { act, letters: [{ id, seen }], number: 1, again: false })
  await sql`update private.deliveries set due_at = now() where letter_id = ${id}`
  const mail = async () => {
    const text = await (await fetch(emailsAddress ?? '')).text()
    return text.split('<article>').find((each) => each.includes(String(letter.to))) ?? ''
  }
  await expect.poll(mail).toContain('Your place at Unplugged')
  const [, token = ''] = /href="[^"]+\/answer\/#([^"]+)"/.exec(await mail()) ?? []
  expect((await client.rpc('place_by_token', { token })).data).toMatchObject({ state: 'open' })
  expect(await mail()).toContain(`href="${origin}/answer/#${token}"`)

  // A guest who is coming gets a confirmation, with the days that are set in Places.
  const rsvp = { token, answer: 'coming', act: crypto.randomUUID() }
  const { retreat } = (await client.rpc('answer_place', rsvp)).data as { retreat: Retreat }
  expect(retreat).toMatchObject({ venue: places.retreat?.venue, starts_on: places.retreat?.starts_on })
  expect(new Date(retreat.starts_on).getUTCDay()).toBe(5)
  await sql`update private.deliveries set due_at = now() where act = ${rsvp.act}`
  await expect.poll(mail).toContain('See you at Unplugged')
  expect(await mail()).toContain('retreat.ics')

  expect(await demo.end('SIGINT')).toBe(0)
  await expect(sql`select 1`).rejects.toThrow(/ENOENT|ECONNREFUSED|terminat/)
  await sql.end(0)
  expect(await readdir(temporary)).toEqual([basename(used.path)])
  await used.abandon()
  await expect(fetch(page ?? '')).rejects.toThrow('fetch failed')
  expect(await readdir(elsewhere)).toEqual([])
  expect(receiver.received).toEqual([])
})
