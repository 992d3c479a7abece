import { expect, test } from 'vitest'

import { send } from '../../support/send-application.ts'
import { anApplication } from '../../support/form.ts'
import { newProject } from '../../support/hosted-project.ts'
import { startPostgres } from '../../support/postgres.ts'
import { dataDirectory, runCommand, startServer } from '../../support/server.ts'

test("a command closes, opens and shows the door while a server runs, with times in the machine's time zone", async () => {
  const directory = await dataDirectory()
  const server = await startServer({ DATA_DIR: directory.path })
  const run = (...args: string[]) =>
    runCommand(['door', ...args], { DATA_DIR: directory.path, TZ: 'Asia/Kathmandu' })
  /** Runs the command. Returns its output, with "T" for each time. */
  const door = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Using .*\n$/) as string })
    return stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d \(Asia\/\w+\)/g, 'T')
  }
  expect(await door()).toBe('The door is open.\n')

  const sentence = 'Alle Plätze sind vergeben. Bis nächstes Jahr!'
  const closed = `The door is closed.\nApplicants read: ${sentence}\nLast changed on T by operator.\n`
  expect(await door('--close', '--sentence', sentence)).toBe(closed)
  expect(await send(server.origin, anApplication())).toBe(403)
  expect((await run('--until', '2999-03-01T18:00', '--after', '2')).stdout).toMatch(
    /^The door is open since .*, until 2999-03-01 18:00 \(Asia\/Kat\w+\), for 2 more of 2 applications\.\n/,
  )
  expect(await send(server.origin, anApplication())).toBe(201)
  expect(await door('--open')).toBe('The door is open since T.\nLast changed on T by operator.\n')
  // The sentence stays stored while the door is open.
  expect(await door('--close')).toBe(closed)
  expect(await door('--sentence', 'Later.')).toContain('The door is closed.\nApplicants read: Later.\n')

  for (const [args, refusal] of [
    [['--close', '--open'], 'Use either --close or --open.\n'],
    [['--close', '--until', '2999-01-01T00:00'], 'Use either --close or --until.\n'],
    [['--close', '--after', '1'], 'Use either --close or --after.\n'],
    // The database refuses this sentence.
    [['--sentence', 'x'.repeat(301)], 'The sentence has at most 300 characters.\n'],
  ] as const) {
    const { code, stdout, stderr } = await run(...args)
    expect({ code, stdout, message: stderr.replace(/^Using .*\n/, '') }).toEqual({
      code: 1,
      stdout: '',
      message: refusal,
    })
  }
  expect(await door()).toContain('The door is closed.\nApplicants read: Later.\n')
})

test('with the database address of the owner, the command closes and opens the door of a hosted project', async () => {
  const postgres = await startPostgres()
  const project = await newProject(postgres, 'with_door')
  const settings = { DATABASE_URL: project.url }
  await (await startServer(settings)).stop()
  const { first_name, last_name, email, phone, linkedin, company, reason } = anApplication()
  const apply = () =>
    project.asSupabase.begin(async (transaction) => {
      await transaction`set local role anon`
      await transaction`
        insert into public.retreat_applications
          (first_name, last_name, email, phone, linkedin, company, reason, consent)
        values (${first_name}, ${last_name}, ${email}, ${phone}, ${linkedin}, ${company}, ${reason}, true)`
    })
  const closed = await runCommand(['door', '--close', '--sentence', 'Not now.'], settings)
  expect(closed).toMatchObject({ code: 0, stdout: expect.stringContaining('closed.\n') as string })
  await expect(apply()).rejects.toMatchObject({ code: 'PT403', message: 'Not now.' })
  expect((await runCommand(['door', '--open'], settings)).code).toBe(0)
  await apply()
  await runCommand(['door', '--close'], settings)
  // A repeated application is reported as a duplicate, even while the door is closed.
  await expect(apply()).rejects.toMatchObject({ code: '23505' })
})
