import { screen, waitFor } from '@testing-library/dom'
import { expect, test, vi } from 'vitest'

import { people } from '../support/applicants.ts'
import { button, heading } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { refusal } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

test('the foot of the desk shows its version', async () => {
  await desk.open()
  await waitFor(() => expect(document.querySelector('footer')?.textContent).toBe('Unplugged. 1.2.3'))
})

test('tests of screens run in StrictMode, which runs each effect again', async () => {
  const listen = vi.spyOn(globalThis, 'addEventListener')
  await desk.open()
  await heading('Applications')
  // An effect listens to this event.
  expect(listen.mock.calls.filter(([event]) => event === 'beforeunload')).toHaveLength(2)
  listen.mockRestore()
})

test('a call whose response breaks off ends after its timeout, and can be tried again', async () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  const shortened = vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => timeout(1))
  const { network, press } = await desk.open('/door')
  const end = network.route('desk_me', async ({ signal }) => {
    // The body of the response never ends.
    const body = new ReadableStream({
      start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
    })
    return new Response(body)
  })
  await heading('The desk cannot be opened now')
  shortened.mockRestore()
  end()
  await press('Try again')
  await heading('Door')
  expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull()
})

test('a function that an updated server no longer has is reported as an update, with a button that reloads', async () => {
  const { network } = await desk.open()
  network.route('desk_list', async () => refusal('Could not find the function', 404, 'PGRST202'))
  await screen.findByText(/The desk was updated meanwhile\. Please reload this page\./)
  await button('Reload')
})

test('a former organiser reads that they are not an organiser, sees no row, and can sign out', async () => {
  await desk.store(people(1))
  const as = await desk.server.signedIn('mary@example.org')
  await desk.sql`
    delete from private.organisers using auth.users where account_id = users.id and email = 'mary@example.org'`
  const { press } = await desk.open('/', { as })
  await heading('Not an organiser')
  screen.getByText('mary@example.org')
  expect(screen.queryByText('Person 1')).toBeNull()
  await press('Sign out')
  await screen.findByLabelText('Email')
})

test('the next application is prefetched before it is opened', async () => {
  const [first, second] = await desk.store(people(2))
  const { user, network } = await desk.open(`/applications/${first?.id}`)
  const prefetched = new Promise<void>((resolve) => {
    network.route('desk_application', async ({ args, send }) => {
      const response = await send()
      if (args['application'] === second?.id) resolve()
      return response
    })
  })
  await heading('Person 1')
  await prefetched
  await network.settled()
  network.hold('desk_application')
  await user.keyboard('j')
  expect((await heading('Person 2')).textContent).toBe('Person 2')
})
