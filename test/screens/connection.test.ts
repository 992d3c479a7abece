import { screen, waitFor, within } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { deferred } from '../support/deferred.ts'
import { sessionKey } from '../../src/client/stored-session.ts'
import { people } from '../support/applicants.ts'
import { heading, link, problems } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { disconnect, refusal } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

const noteField = () => screen.findByLabelText<HTMLTextAreaElement>('Note')
const storedNotes = () => desk.sql`select from private.history where kind = 'note'`
const offlineMessage = /^You are offline\. What you see may be out of date/
/** Makes the browser report that it is offline, although it can reach the server. */
function reportOffline() {
  Object.defineProperty(navigator, 'onLine', { value: false, configurable: true })
  dispatchEvent(new Event('offline'))
}

test('an erasure fails without a connection, and does not happen after reconnecting', async () => {
  const [{ id, email } = { id: '', email: '' }] = await desk.store(people(1))
  const { network, press, fill, announced } = await desk.open(`/applications/${id}`)
  await press('Erase')
  network.setOffline(true)
  await fill(await screen.findByLabelText(`Type the email, ${email}`), email)
  await press('Erase for good')
  const dialog = within(await screen.findByRole('dialog'))
  await dialog.findByText(/^Not erased\. You were offline\./)
  await press('Cancel')
  network.setOffline(false)
  // Calls are sent in order: a paused erasure would be sent before this note.
  await fill(await noteField(), 'Still here')
  await press('Add note')
  await announced('Note added')
  expect(await desk.sql`select from public.retreat_applications`).toHaveLength(1)
})

test('Cancel ends the request of an erasure, so that it is not sent again', async () => {
  const [{ id, email } = { id: '', email: '' }] = await desk.store(people(1))
  const { network, press, fill } = await desk.open(`/applications/${id}`)
  let request: AbortSignal | undefined
  network.route('desk_erase', ({ signal }) => {
    request = signal
    return new Promise(() => {})
  })
  await press('Erase')
  await fill(await screen.findByLabelText(`Type the email, ${email}`), email)
  await press('Erase for good')
  await waitFor(() => expect(request?.aborted).toBe(false))
  await press('Cancel')
  expect(request?.aborted).toBe(true)
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull())
  await heading('Person 1')
})

test('without a connection the desk says that data may be out of date, and then refreshes automatically', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(3))
  const { network, press, follow, fill } = await desk.open()
  await link('Person 1')
  network.setOffline(true)
  await screen.findByText(offlineMessage)
  await follow('Person 1')
  await screen.findByText('Not loaded. You were offline.')
  network.setOffline(false)
  await heading('Person 1')
  await waitFor(() => expect(screen.queryByText(offlineMessage)).toBeNull())
  expect(location.hash).toContain(id)

  network.setOffline(true)
  await fill(await noteField(), 'Heard of')
  await press('Add note')
  await screen.findByText('Note not added. You were offline.')
  expect((await noteField()).value).toBe('Heard of')
})

test('a note whose response comes after its screen was left, or never, is added once', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const { network, press, follow, fill, announced } = await desk.open(`/applications/${id}`)
  const addAndLeave = async (note: string, count: number, response: (stored: Response) => Response) => {
    const { promise: hasLeft, resolve: respond } = deferred()
    const end = network.route('desk_note', async ({ send }) => {
      const stored = await send()
      await hasLeft
      return response(stored)
    })
    await fill(await noteField(), note)
    await press('Add note')
    await waitFor(async () => expect(await storedNotes()).toHaveLength(count))
    await follow('Back')
    await waitFor(() => expect(screen.queryByLabelText('Note')).toBeNull())
    respond()
    return end
  }
  const open = async () => {
    await follow('Person 1')
    return noteField()
  }
  const endResponse = await addAndLeave('Ask her.', 1, (stored) => stored)
  await announced('Note added')
  endResponse()
  expect((await open()).value).toBe('')

  const endRefusal = await addAndLeave('Ask him.', 2, () => refusal())
  await waitFor(() => expect(problems()).toEqual(['Person 1: note not added. boom']))
  endRefusal()
  expect((await open()).value).toBe('Ask him.')
  await press('Add note')
  await announced('Note added')
  await waitFor(async () => expect((await noteField()).value).toBe(''))
  expect(problems()).toEqual([])
  expect(await storedNotes()).toHaveLength(2)
})

test('with an expired token an act without a connection is reported as not sent, and works as soon as the connection is back', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const expireToken = () => {
    const session = JSON.parse(localStorage.getItem(sessionKey) ?? '') as object
    localStorage.setItem(sessionKey, JSON.stringify({ ...session, expires_at: 1 }))
  }
  const { network, press, fill, announced, reload } = await desk.open(`/applications/${id}`, {
    // A separate session, since a refresh token works once.
    as: await desk.server.signedIn('grace@example.org'),
  })
  await heading('Person 1')
  // From now on the desk uses the auth client, which refreshes tokens.
  expireToken()
  reload()
  await heading('Person 1')
  // A token that expired earlier would still be refreshed.
  network.setOffline(true)
  expireToken()
  await fill(await noteField(), 'Ask her.')
  await press('Add note')
  await screen.findByText('Note not added. You were offline.')
  await screen.findByText(offlineMessage)
  network.setOffline(false)
  await press('Add note')
  await announced('Note added')
  await waitFor(() => expect(screen.queryByText(offlineMessage)).toBeNull())
  expect(await storedNotes()).toHaveLength(1)
})

test('the desk works with a server on the same machine while the browser reports that it is offline', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const { network, press, fill, announced } = await desk.open(`/applications/${id}`)
  await heading('Person 1')
  network.calls.length = 0
  reportOffline()
  await waitFor(() => expect(network.calls).toContain('desk_me'))
  await fill(await noteField(), 'Ask her.')
  await press('Add note')
  await announced('Note added')
  expect(await storedNotes()).toHaveLength(1)
  expect(screen.queryByText(offlineMessage)).toBeNull()
})

test('a failed refresh is reported at once, in a single alert, until a refresh succeeds', async () => {
  const { network, activateWindow } = await desk.open('/coming')
  await screen.findByRole('heading', { name: 'Waitlist' })
  const alerts = () => screen.queryAllByRole('alert').filter(({ textContent }) => /\S/.test(textContent))
  const end = network.route(undefined, disconnect)
  await activateWindow()
  await screen.findByText(/^This may be out of date\. The server could not be reached\./)
  reportOffline()
  await screen.findByText(offlineMessage)
  expect(alerts()).toHaveLength(1)
  end()
  // The browser still reports that it is offline.
  await activateWindow()
  await waitFor(() => expect(alerts()).toEqual([]))
})

test('a note is saved after its screen is left, its success is announced, and its failure stays in sight until it is sent again', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(1))
  const { network, press, follow, fill, announced } = await desk.open(`/applications/${id}`)
  const addAndLeave = async (release: () => void) => {
    network.calls.length = 0
    await press('Add note')
    await waitFor(() => expect(network.calls).toContain('desk_note'))
    await follow('Back')
    await heading('Applications')
    release()
  }
  const { promise: isRefused, resolve: refuse } = deferred()
  network.route('desk_note', async () => {
    await isRefused
    return refusal()
  })
  await fill(await noteField(), 'Ask her.')
  await addAndLeave(refuse)
  await waitFor(() => expect(problems()).toEqual(['Person 1: note not added. boom']))
  await follow('Open')
  expect((await noteField()).value).toBe('Ask her.')
  await addAndLeave(network.hold('desk_note'))
  await announced('Note added')
  expect(problems()).toEqual([])
  expect(await storedNotes()).toHaveLength(1)
})

test('a desk that cannot open without a connection opens automatically after reconnecting', async () => {
  const { network } = await desk.open()
  network.setOffline(true)
  await heading('The desk cannot be opened now')
  network.setOffline(false)
  await screen.findByRole('link', { name: /^New/ })
})
