import { beforeAll, beforeEach, expect, test } from 'vitest'

import { table, type Application } from '../src/application/application.ts'
import { anApplication } from '../testing/form.ts'
import { newProject } from '../testing/hosted-project.ts'
import { clientOf } from '../testing/organiser.ts'
import { startPostgres } from '../testing/postgres.ts'
import { dataDirectory, runCommand, startServer, type RunningServer } from '../testing/server.ts'
import { connectToFiles } from '../testing/sql.ts'
import type { Pool } from '../src/server/database/pool.ts'

let directory: Awaited<ReturnType<typeof dataDirectory>>
let server: RunningServer
let database: Pool

beforeAll(async () => {
  directory = await dataDirectory()
  server = await startServer({ DATA_DIR: directory.path })
  database = connectToFiles(directory.path)
})

/** As in a new database. */
beforeEach(async () => {
  await database`truncate public.retreat_applications cascade`
  await database`delete from private.door`
  await database`insert into private.door default values`
})

/** Runs `npm run door`; gives what it says, with every time as "T". */
async function door(...args: string[]) {
  const { code, stdout, stderr } = await runCommand(['door', ...args], {
    DATA_DIR: directory.path,
    TZ: 'Asia/Kathmandu',
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Using .*\n$/) as string })
  return stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d \(Asia\/\w+\)/g, 'T')
}

async function send(application: Application) {
  const { status, error } = await clientOf(server.origin).from(table).insert(application)
  return error === null ? { status } : { status, code: error.code, message: error.message }
}

const refusedWith = (message: string) => ({ status: 403, code: 'PT403', message })

test('a door that is closed refuses with its sentence, knows what is stored, and opens again', async () => {
  const stored = anApplication()
  expect(await send(stored)).toEqual({ status: 201 })
  expect(await door()).toBe('The door is open.\n')

  const sentence = 'Alle Plätze sind vergeben. Bis nächstes Jahr!'
  const closed = `The door is closed.\nApplicants read: ${sentence}\nLast changed on T by operator.\n`
  expect(await door('--close', '--sentence', sentence)).toBe(closed)
  expect(await door()).toBe(closed)
  expect(await send(anApplication())).toEqual(refusedWith(sentence))
  expect(await send(stored)).toMatchObject({ status: 409, code: '23505' })

  expect(await door('--open')).toBe('The door is open since T.\nLast changed on T by operator.\n')
  expect(await send(anApplication())).toEqual({ status: 201 })
  // The sentence is kept for the next time.
  expect(await door('--close')).toBe(closed)
})

test('a door that was once told to close at a moment that no calendar knows is told', async () => {
  await database`update private.door set closes_at = 'infinity'`
  expect(await door()).toBe('The door is open.\n')
  expect(await door('--sentence', 'Later.')).toContain('The door is open.\n')
  await database`update private.door set closes_at = '-infinity'`
  expect(await door()).toContain('The door is closed.\nApplicants read: Later.\n')
})

test('a door that closes after three says how many may still come, and why it closed', async () => {
  expect(await door('--after', '3')).toBe(
    `The door is open, for 3 more of 3 applications.
Then applicants read: Applications are closed.
Last changed on T by operator.
`,
  )
  expect(await send(anApplication())).toEqual({ status: 201 })
  expect(await door()).toContain('The door is open, for 2 more of 3 applications.\n')
  for (let more = 0; more < 2; more += 1) expect(await send(anApplication())).toEqual({ status: 201 })
  expect(await door()).toContain('The door is closed: 3 applications came, as many as it was to take.\n')

  // Other words open nothing.
  expect(await door('--sentence', 'We are full.')).toMatch(
    /^The door is closed: 3 applications came, as many as it was to take\.\nApplicants read: We are full\.\n/,
  )
  expect(await send(anApplication())).toEqual(refusedWith('We are full.'))
  expect(await door('--after', '1')).toContain('The door is open since T, for 1 more of 1 application.\n')
  expect(await send(anApplication())).toEqual({ status: 201 })
  expect(await send(anApplication())).toEqual(refusedWith('We are full.'))

  // Opened again for as many, it counts anew.
  expect(await door('--after', '1')).toContain('The door is open since T, for 1 more of 1 application.\n')
})

test('a door that closes at a time does so by itself, and the time is read in the zone of the machine', async () => {
  const said = await runCommand(['door', '--until', '2999-03-01T18:00', '--sentence', 'Too late.'], {
    DATA_DIR: directory.path,
    TZ: 'Asia/Kathmandu',
  })
  expect(said.stdout).toMatch(
    /^The door is open, until 2999-03-01 18:00 \(Asia\/Kat\w+\)\.\nThen applicants read: Too late\.\nLast changed on /,
  )
  const [row] = await database<{ closes_at: Date }[]>`select closes_at from private.door`
  expect(row?.closes_at).toEqual(new Date('2999-03-01T12:15Z'))
  expect(await send(anApplication())).toEqual({ status: 201 })

  // The day comes.
  await database`update private.door set closes_at = now()`
  expect(await send(anApplication())).toEqual(refusedWith('Too late.'))
  expect(await door()).toContain('The door is closed since T.\nApplicants read: Too late.\n')

  expect(await door('--until', '2999-03-01 18:00:30+01:00', '--after', '2')).toContain(
    'The door is open since T, until T, for 2 more of 2 applications.\n',
  )
  expect(await door('--open')).toContain('The door is open since T.\n')
  expect(await database`select closes_at, closes_after from private.door`).toEqual([
    { closes_at: null, closes_after: null },
  ])
})

test.each([
  [['--close', '--open'], '--close and --open are two things: choose one.'],
  [['--close', '--until', '2999-01-01T00:00'], '--close and --until are two things: choose one.'],
  [['--close', '--after', '1'], '--close and --after are two things: choose one.'],
  [['--until', '2020-03-01T18:00Z'], '--until is 2020-03-01 23:45 (Asia/Kat'],
  [['--until', '2999-02-30T18:00'], '--until is "2999-02-30T18:00" but should be a date and a time'],
  [['--until', '2999-03-01'], '--until is "2999-03-01" but should be a date and a time'],
  [['--until', '2999-03-01T25:00'], '--until is "2999-03-01T25:00" but should be a date and a time'],
  [['--after', '0'], '--after is "0" but should be a whole number from 1 to 2147483647.'],
  [['--after', '1.5'], '--after is "1.5" but should be a whole number'],
  [['--after', '2147483648'], '--after is "2147483648" but should be a whole number'],
  [['--sentence', 'x'.repeat(301)], 'The sentence has at most 300 characters.'],
])('%j ends in one sentence and changes nothing', async (args, sentence) => {
  const { code, stdout, stderr } = await runCommand(['door', ...args], {
    DATA_DIR: directory.path,
    TZ: 'Asia/Kathmandu',
  })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  const said = stderr.replace(/^Using .*\n/, '')
  expect(said).toContain(sentence)
  expect(said.trim().split('\n')).toHaveLength(1)
  expect(await database`select version from private.door`).toEqual([{ version: 0 }])
})

test("the door of a hosted project is closed and opened by the project's owner", async () => {
  const postgres = await startPostgres()
  const project = await newProject(postgres, 'with_door')
  const settings = { DATABASE_URL: project.url }
  await (await startServer(settings)).stop()
  const { first_name, last_name, email, phone, linkedin, company, reason } = anApplication()
  const applies = () =>
    project.asSupabase.begin(async (transaction) => {
      await transaction`set local role anon`
      await transaction`
        insert into public.retreat_applications
          (first_name, last_name, email, phone, linkedin, company, reason, consent)
        values (${first_name}, ${last_name}, ${email}, ${phone}, ${linkedin}, ${company}, ${reason}, true)`
    })
  const closed = await runCommand(['door', '--close', '--sentence', 'Not now.'], settings)
  expect(closed).toMatchObject({ code: 0, stdout: expect.stringContaining('closed.\n') as string })
  await expect(applies()).rejects.toMatchObject({ code: 'PT403', message: 'Not now.' })
  expect((await runCommand(['door', '--open'], settings)).code).toBe(0)
  await applies()
  await runCommand(['door', '--close'], settings)
  await expect(applies()).rejects.toMatchObject({ code: '23505' })
})
