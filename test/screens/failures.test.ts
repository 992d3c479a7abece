import { screen, waitFor } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { hiddenName } from '../support/applicants.ts'
import { button, focusedWords, heading, settingSwitch, timeline } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { disconnect } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

/** Screens, each with its address, the function that it calls, a malformed response, and its heading. */
const malformedResponses = [
  [
    '/?status=all',
    'desk_list',
    { applications: [null], letters: [], new_notes: [], next: null },
    'Applications',
  ],
  [
    '/applications/1',
    'desk_application',
    { application: {}, letters: [], place: null, history: [{ kind: 'none' }] },
    'Ada Lovelace',
  ],
  ['/letters', 'desk_letters', {}, 'Letters'],
  ['/letters/templates/accepted', 'desk_letters', {}, 'Template: Accepted'],
  ['/letters/drafts/accepted', 'desk_drafts', { letters: [null], next: null }, 'Drafts: Accepted'],
  ['/letters/outbox/refused', 'desk_outbox', { letters: [null], next: null }, 'Refused letters'],
  ['/door', 'desk_door', { is_open: true, closes_after: 3 }, 'Door'],
  ['/history', 'desk_history', { happenings: [null], next: null }, 'History'],
] as const

test('a broken screen affects nothing else, and Try again loads it again', async () => {
  const [application] = await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  const { follow, goTo, network, press, allowConsoleError } = await desk.open('/account')
  allowConsoleError(/TypeError|RangeError/)
  const isOpen = async (title: string) => {
    await heading(title)
    await waitFor(() => expect(document.title).toBe(`${title} · Unplugged.`))
  }
  for (const [path, name, json, title] of malformedResponses) {
    await follow('Account')
    await isOpen('Account')
    // A screen would use the response of a pending call instead of the malformed one.
    await network.settled()
    const end = network.route(name, async () => Response.json(json))
    goTo(path.replace('/1', `/${application?.id}`))
    await isOpen('This could not be shown')
    expect(focusedWords()).toBe('This could not be shown')
    await press('Try again')
    await network.settled()
    await isOpen('This could not be shown')
    end()
    await press('Try again')
    await isOpen(title)
  }
})

test('an unexpected failure is reported, and the button still works afterwards', async () => {
  const { network, press, allowConsoleError } = await desk.open('/account')
  allowConsoleError(/TypeError|null/)
  await button('Set up')
  const end = network.route('user', async ({ send }) => {
    const user = (await (await send()).json()) as object
    return Response.json({ ...user, factors: [null] })
  })
  await press('Set up')
  await screen.findByText('Something went wrong. Please try again.')
  end()
  await press('Set up')
  await screen.findByAltText(/^A QR code/)
  expect(screen.queryByText('Something went wrong. Please try again.')).toBeNull()
})

test('the window’s title names the screen or the applicant, and shows a blind reader no name', async () => {
  await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  const { user, follow, press, announced } = await desk.open('/', {
    as: await desk.server.signedIn('grace@example.org'),
  })
  const isTitle = (title: string) => waitFor(() => expect(document.title).toBe(`${title} · Unplugged.`))
  await follow('Ada Lovelace')
  await isTitle('Ada Lovelace')
  await follow('Account')
  await isTitle('Account')
  await user.click(await settingSwitch('Blind reading'))
  await announced('Blind reading is on.')
  await follow('Applications')
  await isTitle('Applications')
  await follow(hiddenName)
  await heading(hiddenName)
  await waitFor(() => expect(document.title).toMatch(/^Application [\da-f]{4} · Unplugged\.$/))
  await press('Sign out')
  await isTitle('Sign in')
})

test('an act that is retried after a lost response happens once, and is announced as usual', async () => {
  const person = { email: 'ada@example.com', first_name: 'Ada' }
  await desk.store([
    { ...person, last_name: 'L', company: 'Engines' },
    { ...person, last_name: 'B', company: 'Looms' },
  ])
  const { user, fill, follow, network, press, announced } = await desk.open('/door')
  for (const name of ['set_door', 'set_blind', 'reveal', 'note', 'decide', 'erase']) {
    const end = network.route(`desk_${name}`, async ({ send }) => {
      end()
      await send()
      return disconnect()
    })
  }
  await fill(await screen.findByLabelText('Sentence for applicants'), 'Later.')
  await press('Save')
  await announced('Saved. The door is open.')
  await waitFor(() =>
    expect(
      screen
        .queryAllByRole('alert')
        .map((each) => each.textContent)
        .join(''),
    ).toBe(''),
  )
  await follow('Account')
  await user.click(await settingSwitch('Blind reading'))
  await announced('Blind reading is on.')
  await follow('Applications')
  const [first] = await screen.findAllByRole('link', { name: hiddenName })
  if (first) await user.click(first)
  await press('Reveal')
  await heading('Ada L')
  await fill(await screen.findByLabelText('Note'), 'A strong one.')
  await press('Add note')
  await announced('Note added')
  expect(timeline().filter((each) => each.includes('A strong one.'))).toHaveLength(1)
  await press('Accept')
  await announced('Ada L: Accepted')
  const happened =
    await desk.sql`select kind from private.history where application_id is not null order by id`
  expect(happened.map(({ kind }) => kind as string)).toEqual(['revealed', 'note', 'status'])
  await press('Erase')
  await user.click(await screen.findByLabelText(/^Looms\b/))
  await fill(screen.getByLabelText(/^Type the email/), 'ada@example.com')
  await press('Erase for good')
  await announced('Ada L: erased, 2 applications')
  // Other events were removed with the applications.
  expect(await desk.sql`select kind, detail from private.history order by id`).toMatchObject([
    { kind: 'door' },
    { kind: 'blind' },
    { kind: 'erased', detail: { applications: 2 } },
  ])
})
