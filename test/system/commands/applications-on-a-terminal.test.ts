import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'

import type { Application } from '../../../src/application/application.ts'
import { openDatabase } from '../../../src/server/database/database.ts'
import { anApplication } from '../../support/form.ts'
import { endWithTest } from '../../support/end-with-test.ts'
import { cannotRun } from '../../support/requirements.ts'
import { dataDirectory, runCommand, startServer } from '../../support/server.ts'
import { valuesOf } from '../../support/sql.ts'

let directory: Awaited<ReturnType<typeof dataDirectory>>
let settings: Record<string, string>

beforeAll(async () => {
  directory = await dataDirectory()
  settings = { DATA_DIR: directory.path }
  // The start creates the schema.
  await (await startServer(settings)).stop()
})

/** Replaces all applications by these, the oldest first, a minute apart. */
async function store(...applications: Partial<Application>[]) {
  const database = await openDatabase(
    { dataDir: directory.path, databaseUrl: undefined },
    { schema: 'check' },
  )
  await database.owner`delete from public.retreat_applications`
  const rows = applications.map((changes, minute) => ({
    ...anApplication(changes),
    id: `00000000-0000-4000-8000-${String(minute).padStart(12, '0')}`,
    created_at: new Date(Date.UTC(2026, 0, 31, 22, minute, 59)),
  }))
  while (rows.length > 0) {
    await database.owner`insert into public.retreat_applications ${valuesOf(rows.splice(0, 500))}`
  }
  await database.close()
}

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ first_name: `Number-${index}` }))

interface Options {
  args?: string
  environment?: Record<string, string>
  /** The `PATH` of the command. */
  path?: string
  /** A step to run while the command runs. */
  meanwhile?: (terminal: Terminal) => Promise<unknown>
}

interface Terminal {
  /** Resolves when the text appears after the previously awaited text. */
  waitForText: (text: string) => Promise<unknown>
  press: (keys: string) => void
  /** Presses keys now, and again whenever the text appears, because less forgets keys when it is interrupted. */
  keepPressing: (keys: string, text: string) => void
  signal: (name: NodeJS.Signals) => void
}

/** Runs the command to its end on a terminal of 60 columns, which `script` makes. */
async function onTerminal({ args = '', environment = {}, path, meanwhile = async () => {} }: Options = {}) {
  const { PATH = '', HOME = '' } = process.env
  const command = `stty cols 60 rows 24; echo pid=$$.; PATH=${path ?? PATH} exec ${process.execPath} start.js applications ${args}`
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: { PATH, HOME, TERM: 'xterm', TZ: 'Asia/Tokyo', ...settings, ...environment },
  })
  endWithTest(child, directory.path)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const closed = once(child, 'close') as Promise<[number | null]>
  let searchedUpTo = 0
  const isShown = (text: string) => {
    const at = output.indexOf(text, searchedUpTo)
    if (at >= 0) searchedUpTo = at + text.length
    return at >= 0
  }
  const waitForText = async (text: string) => {
    while (!isShown(text)) {
      const [ended] = await Promise.race([once(child.stdout, 'data'), closed.then(() => [undefined])])
      if (ended === undefined) throw new Error(`the command ended, and never showed "${text}":\n${output}`)
    }
  }
  await meanwhile({
    waitForText,
    press: (keys) => child.stdin.write(keys),
    keepPressing(keys, text) {
      child.stdin.write(keys)
      child.stdout.on('data', () => isShown(text) && child.stdin.write(keys))
    },
    signal: (name) => process.kill(Number(/pid=(\d+)/.exec(output)?.[1]), name),
  })
  const [code] = await closed
  // A terminal ends its lines with \r\n.
  const screen = output.replaceAll('\r\n', '\n').replace(/^pid=.*\nUsing .*\n/, '')
  return { code, screen }
}

const isDatabaseStopped = () =>
  access(join(directory.path, '.s.PGSQL.5432')).then(
    () => false,
    () => true,
  )

function isRunning(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const namesOn = (screen: string) => screen.match(/Number-\d+/g)

test('a terminal shows an application wrapped at words, with a bold name and the local time', async () => {
  await store({
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: 'ada@example.com',
    linkedin: `https://example.com/${'a'.repeat(30)}`,
    reason:
      'I have not been away from a screen for longer than I remember.\n\n  我们需要离开屏幕一个星期因为没有人记得安静是什么',
  })
  const { screen, code } = await onTerminal({ environment: { PAGER: '' } })
  expect(code).toBe(0)
  expect(screen).toBe(`1 application.

\u001b[1mAda Lovelace\u001b[22m, 2026-02-01 07:00
  00000000-0000-4000-8000-000000000000
  Email         ada@example.com
  Phone         +44 (20) 7946 0958
  LinkedIn      https://example.com/aaaaaaaaaaaaaaaaaaaaaaaa
                aaaaaa
  Company       Analytical Engines
  Paid before   Yes, travel related
  Team          3-10
  Reason        I have not been away from a screen for
                longer than I remember.
${' '.repeat(16)}
                  我们需要离开屏幕一个星期因为没有人记得安静
                是什么
  Status        New
  Webhook       waiting
`)
})

test('without a pager the newest application is the last, next to the prompt', async () => {
  await store(...people(3))
  const environment = { PAGER: 'cat' }
  const { screen } = await onTerminal({ environment })
  expect(screen).toMatch(/^3 applications\.\n/)
  expect(namesOn(screen)).toEqual(['Number-0', 'Number-1', 'Number-2'])
})

test('a pager gets the number of applications and then all of them, the newest first', async () => {
  // These are more applications than a query reads at once.
  await store(...people(1200))
  const { code, screen } = await onTerminal({ environment: { PAGER: "sed 's/^/| /'" } })
  expect(code).toBe(0)
  expect(screen).toMatch(/^\| 1,200 applications\.\n/)
  expect(screen.split('\n').every((line) => line === '' || line.startsWith('| '))).toBe(true)
  expect(namesOn(screen)).toEqual(Array.from({ length: 1200 }, (_, index) => `Number-${1199 - index}`))
})

test('applications with equal times each appear once', async () => {
  await store(...people(1200))
  const database = await openDatabase(
    { dataDir: directory.path, databaseUrl: undefined },
    { schema: 'check' },
  )
  // Some times are equal, and others differ by less than a millisecond, which a JavaScript Date cannot show.
  await database.owner`
    update public.retreat_applications
    set created_at = timestamptz '2026-01-01' + (right(id::text, 4)::int / 3) * interval '1 microsecond'`
  await database.close()
  for (const PAGER of ['', "sed 's/^/| /'"]) {
    const names = namesOn((await onTerminal({ environment: { PAGER } })).screen)
    expect([names?.length, new Set(names).size]).toEqual([1200, 1200])
  }
})

test.each(['no-such-pager', './package.json'])(
  'if the pager is %s, which cannot run, the list is printed',
  async (PAGER) => {
    await store(...people(600))
    const { code, screen } = await onTerminal({ environment: { PAGER } })
    expect(code).toBe(0)
    expect(namesOn(screen)).toEqual(Array.from({ length: 600 }, (_, index) => `Number-${index}`))
  },
)

test('if less is missing, the list is printed without a message', async () => {
  await store(...people(2))
  const server = await startServer(settings)
  const { code, screen } = await onTerminal({ path: '/nowhere' })
  await server.stop()
  expect(code).toBe(0)
  expect(screen).toMatch(/^2 applications\.\n/)
  expect(namesOn(screen)).toEqual(['Number-0', 'Number-1'])
})

test('a pager that ends early ends the command without a message, and the database stops', async () => {
  await store(...people(1200))
  const { code, screen } = await onTerminal({ environment: { PAGER: 'head -n 1' } })
  expect({ code, screen }).toEqual({ code: 0, screen: '1,200 applications.\n' })
  expect(await isDatabaseStopped()).toBe(true)
})

/** A pager that ignores Ctrl-C and waits for a key, as the program `less` does. */
const pagerLikeLess = "trap '' INT; head -n 1; echo reading; read key < /dev/tty; echo quitting"

test('Ctrl-C does not end the command while a pager runs', async () => {
  await store(...people(1200))
  const { code, screen } = await onTerminal({
    environment: { PAGER: pagerLikeLess },
    meanwhile: async ({ waitForText, press }) => {
      await waitForText('reading')
      press('\u0003')
      await waitForText('^C')
      press('q\n')
    },
  })
  expect(code).toBe(0)
  expect(screen).toBe('1,200 applications.\nreading\n^Cq\nquitting\n')
  expect(await isDatabaseStopped()).toBe(true)
})

test.each(['SIGTERM', 'SIGHUP'] as const)(
  'a %s ends the pager, and no database keeps running',
  async (signal) => {
    // These few applications fit into the buffer of the pager's pipe.
    await store(...people(3))
    const { screen } = await onTerminal({
      // This pager ignores the loss of its terminal.
      environment: { PAGER: "trap '' HUP; echo reader=$$.; exec sleep 600" },
      meanwhile: async ({ waitForText, signal: sendSignal }) => {
        await waitForText('reader=')
        await waitForText('.')
        sendSignal(signal)
      },
    })
    expect(screen.replace(/\d+/, '1')).toBe('reader=1.\nInterrupted.\n')
    expect(isRunning(Number(/\d+/.exec(screen)?.[0]))).toBe(false)
    expect(await isDatabaseStopped()).toBe(true)
  },
)

const prompt = ':\u001b[K'
const bell = '\u0007'
const hasLess = spawnSync('less', ['--version']).error === undefined
const noLess = 'There is no less: apt-get install less.'

/** Removes the escape sequences that less adds for the terminal. */
// oxlint-disable-next-line no-control-regex
const plain = (screen: string) => screen.replaceAll(/\u001b(\[\?1[hl]|\[[mK]|[=>])|\r/g, '')

test('less shows the newest application first, Ctrl-C does not end the command, and q does', async ({
  skip,
}) => {
  if (!hasLess) return cannotRun(skip, noLess)
  await store(...people(1200))
  const { code, screen } = await onTerminal({
    meanwhile: async ({ waitForText, press, keepPressing }) => {
      await waitForText(prompt)
      press('\u0003')
      // less does not always show a prompt after this, but always rings the bell.
      await waitForText(bell)
      keepPressing('q', prompt)
    },
  })
  expect(code).toBe(0)
  expect(plain(screen)).toContain('1,200 applications.\n\n\u001b[1mNumber-1199 ')
  expect(screen).not.toContain('Interrupted')
  expect(await isDatabaseStopped()).toBe(true)
})

test('less ends at once if everything fits on one screen, even without a locale', async ({ skip }) => {
  if (!hasLess) return cannotRun(skip, noLess)
  await store({ first_name: 'Jürgen 我' })
  const { code, screen } = await onTerminal({ environment: { LC_ALL: 'C' } })
  expect(code).toBe(0)
  expect(plain(screen)).toContain('1 application.\n\n\u001b[1mJürgen 我 ')
})

test("an applicant's text cannot control the terminal", async () => {
  await store({
    first_name: '\u001b[31mEve\u0007\u009b2J',
    last_name: '\u001b]0;title\u0007\r\n\u202e',
    reason: '\u001b[2J\u001b[1mbold\u0008\u000c\u001b',
  })
  for (const PAGER of ['', "sed 's/^//'"]) {
    const { screen } = await onTerminal({ environment: { PAGER, NO_COLOR: '1' } })
    expect(screen).toContain('Eve')
    // oxlint-disable-next-line no-control-regex
    expect(screen).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  }
})

test('--json and --csv print the same on a terminal and into a file', async () => {
  await store(...people(2))
  for (const args of ['--json', '--csv --no-bom']) {
    const { stdout } = await runCommand(['applications', ...args.split(' ')], settings)
    const { screen } = await onTerminal({ args })
    expect(screen).toBe(stdout)
  }
})

test('on a terminal the list also says that there are no applications yet', async () => {
  await store()
  expect(await onTerminal({ environment: { PAGER: '' } })).toEqual({
    code: 0,
    screen: 'No applications yet.\n',
  })
})
