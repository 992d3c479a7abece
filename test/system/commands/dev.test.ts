import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'

import { atTestEnd } from '../../support/cleanup.ts'
import { signInByLink } from '../../support/sign-in-by-link.ts'
import { outputOf } from '../../support/output.ts'
import { freePort } from '../../support/ports.ts'
import { endWithTest } from '../../support/end-with-test.ts'
import { connectToEmbedded } from '../../support/sql.ts'
import { temporaryDirectory } from '../../support/server.ts'
import { copyCheckout } from '../../support/static-site.ts'

/** A copy of the sources, which the tests edit. */
let checkout: string
/** The folder in which the demonstration makes its own. */
let temporary: string

beforeAll(async () => {
  const directory = await temporaryDirectory()
  temporary = join(directory.path, 'tmp')
  await mkdir(temporary)
  checkout = await copyCheckout(join(directory.path, 'checkout'))
  // Vite writes into node_modules.
  const modules = join(checkout, 'node_modules')
  await rm(modules)
  await mkdir(modules)
  for (const name of await readdir('node_modules')) {
    if (!name.startsWith('.')) await symlink(resolve('node_modules', name), join(modules, name))
  }
  // demo.test.ts has the people, who take seconds: here are only the organisers.
  await edit(
    'demo/fill.ts',
    /^export async function fill\(.*$/m,
    (line) => `${line}\n  if (sql) return void (await openDesks(sql))`,
  )
})

/** Replaces a part of a file of the copy. */
async function edit(path: string, part: string | RegExp, replacement: string | ((found: string) => string)) {
  const file = join(checkout, path)
  const text = await readFile(file, 'utf8')
  const edited = text.replace(part, typeof replacement === 'string' ? () => replacement : replacement)
  await writeFile(file, edited)
}

/** Starts the development server in the copy. */
function startDev(port: number) {
  const { PATH = '', HOME = '', TEST_RUN = '' } = process.env
  const child = spawn(process.execPath, ['tools/run.js', 'tools/dev/main.ts'], {
    cwd: checkout,
    env: { PATH, HOME, TEST_RUN, TMPDIR: temporary, PORT: String(port) },
  })
  endWithTest(child)
  return { child, exited: once(child, 'exit'), ...outputOf(child) }
}

/** Connects to Vite as a page does. Returns a function that resolves with the first message of a type that has arrived since. */
async function listenForUpdates(site: string) {
  const client = await (await fetch(`${site}/@vite/client`)).text()
  const [, token = ''] = /wsToken = "([^"]+)"/.exec(client) ?? []
  const socket = new WebSocket(`${site.replace('http', 'ws')}/?token=${token}`, 'vite-hmr')
  atTestEnd(() => socket.terminate())
  await once(socket, 'open')
  return (type: string) =>
    new Promise<unknown>((resolve_) => {
      const onMessage = (data: Buffer) => {
        const message = JSON.parse(data.toString()) as { type: string }
        if (message.type !== type) return
        socket.off('message', onMessage)
        resolve_(message)
      }
      socket.on('message', onMessage)
    })
}

const textOf = async (address: string) => (await fetch(address)).text()

describe.sequential('a development server', { shuffle: false }, () => {
  let dev: ReturnType<typeof startDev>
  let site: string

  beforeAll(async () => {
    const port = await freePort()
    site = `http://127.0.0.1:${port}`
    dev = startDev(port)
    await dev.waitForOutput(/^Its emails: /m)
    // A page waits for the server for a while. On a slow machine it then says that the server is starting.
    await vi.waitUntil(async () => (await fetch(site)).status === 200, { timeout: 120_000 })
  })

  test('the form, the desk and the pages of links are served through Vite, and the rest by the server', async () => {
    for (const path of ['/', '/desk', '/answer/', '/withdraw/']) {
      const response = await fetch(site + path)
      expect(response.headers.get('content-security-policy')).toBe(null)
      const html = await response.text()
      expect(html).toContain('Unplugged.')
      expect(html).toContain('src="/@vite/client"')
    }
    expect(await textOf(`${site}/src/pages/desk/main.tsx`)).toContain('hydrateSignIn')
    expect(await (await fetch(`${site}/rest/v1/`)).json()).toMatchObject({ code: 'PGRST302' })
    const posted = await fetch(site, { method: 'POST', body: new URLSearchParams({ first_name: 'Ada' }) })
    expect(await posted.text()).toContain('Submission Failed')
  })

  test('the printed link signs in at the desk, and the mailbox has its own address', async () => {
    const [, link = ''] = /^The desk: +(\S+)/m.exec(dev.output()) ?? []
    expect((await signInByLink(site, link)).refused).toBe(null)
    const [, mailbox = ''] = /^Its emails: (\S+)/m.exec(dev.output()) ?? []
    expect(await textOf(mailbox)).toContain('<h1>Emails</h1>')
  })

  test('a change of a component is replaced in the page, and one of a style, a document or an inline script loads it again', async () => {
    const next = await listenForUpdates(site)
    const component = '/src/pages/apply/Outcome.tsx'
    for (const path of ['main.tsx', 'ApplicationForm.tsx', 'Outcome.tsx'])
      await textOf(`${site}/src/pages/apply/${path}`)
    const update = next('update')
    await edit(component, /^/, '// changed\n')
    expect(await update).toMatchObject({ updates: [{ path: component }] })

    for (const [path, part, replacement] of [
      ['src/pages/apply/form.css', /$/, '.changed-style { color: red }'],
      ['src/pages/Head.tsx', /(?=<meta|<link)/, '<meta name="changed-head" />'],
      ['src/pages/apply/before-take-over.ts', 'timeout = 10_000', 'timeout = 12_345'],
      // A module that only inline scripts import.
      ['src/pages/dom-elements.ts', /$/, '\n'],
    ] as const) {
      const reload = next('full-reload')
      await edit(path, part, () => replacement)
      await reload
    }
    const html = await textOf(site)
    for (const part of ['changed-style', 'changed-head', '12345']) expect(html).toContain(part)
  })

  test('a change of the server starts it again, on the same database', async () => {
    const folders = await readdir(temporary)
    await edit('src/server/pages/missing.ts', 'Not found.', 'Not here.')
    await expect.poll(() => textOf(`${site}/nothing`)).toContain('Not here.')
    expect(await readdir(temporary)).toEqual(folders)
  })

  test('a server that does not start is one sentence in the page and in the terminal, until it starts again', async () => {
    await edit('src/server/app.ts', /^/, 'throw new Error("no luck")\n')
    await dev.waitForOutput('no luck')
    const response = await fetch(site)
    const sentence = 'The server does not start: no luck (src/server/app.ts:1:7)'
    expect([response.status, response.headers.get('refresh')]).toEqual([503, '1'])
    expect(await response.text()).toContain(`<p>${sentence}</p>`)
    expect(dev.output()).toContain(`${sentence}\n`)
    expect(dev.output()).not.toMatch(/^ +at /m)
    await edit('src/server/app.ts', /^.*\n/, '')
    await expect.poll(async () => (await fetch(site)).status).toBe(200)
  })

  test('a declared function is replaced', async () => {
    const file = 'supabase/schemas/desk/calls/me.sql'
    await edit(
      file,
      "jsonb_build_object('email', me.email,",
      "jsonb_build_object('email', me.email, 'more', 1,",
    )
    const [folder = ''] = await readdir(temporary)
    const sql = connectToEmbedded(join(temporary, folder))
    await expect
      .poll(() => sql`select from pg_proc where proname = 'desk_me' and prosrc like '%''more'', 1%'`)
      .toHaveLength(1)
  })

  test('a new migration is applied, and an edited one makes a new demonstration', async () => {
    const [folder] = await readdir(temporary)
    const migration = join(checkout, 'supabase', 'migrations', '29990101000000_more.sql')
    // In one step: a file that is empty at first would count as edited.
    const whole = join(checkout, 'more.sql')
    await writeFile(whole, 'create function public.more() returns integer language sql return 1;\n')
    await rename(whole, migration)
    const sql = connectToEmbedded(join(temporary, folder ?? ''))
    const more = async () => (await sql`select to_regprocedure('public.more()')::text as more`)[0]
    await expect.poll(more).toEqual({ more: 'more()' })
    expect(await readdir(temporary)).toEqual([folder])
    await writeFile(migration, 'create function public.more() returns integer language sql return 2;\n')
    await dev.waitForOutput(/Its emails: [^]*Its emails: /)
    expect(await readdir(temporary)).not.toContain(folder)
    expect((await fetch(site)).status).toBe(200)
  })

  test('a second one at the same port is refused in a sentence', async () => {
    const second = startDev(Number(new URL(site).port))
    expect(await second.exited).toEqual([1, null])
    expect(second.output()).toMatch(/^PORT is "\d+", which is in use \(EADDRINUSE\): .*\n$/)
  })

  test('Ctrl-C ends everything that it started', async () => {
    dev.child.kill('SIGINT')
    expect(await dev.exited).toEqual([0, null])
    await expect(fetch(site)).rejects.toThrow('fetch failed')
    // The folder goes last, after the server and the database.
    expect(await readdir(temporary)).toEqual([])
  })
})

test('a database that .env names is used in place of the demonstration', async () => {
  const settings = join(checkout, '.env')
  await writeFile(settings, 'DATABASE_URL=postgres://127.0.0.1:1/none\n')
  atTestEnd(() => rm(settings))
  const port = await freePort()
  const dev = startDev(port)
  await dev.waitForOutput('The server does not start: ')
  expect(await textOf(`http://127.0.0.1:${port}/desk`)).toMatch(/PostgreSQL at 127\.0\.0\.1:1\/none/)
  expect(await readdir(temporary)).toEqual([])
})
