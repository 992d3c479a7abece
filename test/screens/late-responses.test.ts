import { fireEvent, screen, waitFor, within } from '@testing-library/dom'
import { expect, test, vi } from 'vitest'

import { deferred } from '../support/deferred.ts'
import { people } from '../support/applicants.ts'
import { atTestEnd } from '../support/cleanup.ts'
import { button, focusedWords, heading, pill, problems, timeline } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { beginEdition } from '../support/editions.ts'
import { disconnect, refusal } from '../support/intercepted-fetch.ts'

const desk = deskScreensForTestFile()

test('a note that is being written keeps the focus, whatever a response that arrives meanwhile removes', async () => {
  const [ada] = await desk.store([{ first_name: 'Ada', last_name: 'N' }])
  await desk.setStatus(ada ? [ada] : [], 'accepted')
  const { fill, network, press, announced } = await desk.open(`/applications/${ada?.id}`)
  const release = network.hold('desk_discard')
  await press('Remove: Ada N')
  const note = screen.getByLabelText<HTMLTextAreaElement>('Note')
  await fill(note, 'Warm')
  release()
  await announced('Ada N: draft removed')
  expect(document.activeElement).toBe(note)
  expect(note.value).toBe('Warm')
})

test('a draft that is unticked while another one is being removed stays unticked', async () => {
  const stored = await desk.store(people(3))
  await desk.setStatus(stored, 'accepted')
  // Without a mail server there are no ticks.
  await desk.sql`update private.postman set seen_at = now()`
  const { user, network, press, announced } = await desk.open('/letters/drafts/accepted')
  const tick = await screen.findByRole<HTMLInputElement>('checkbox', { name: 'Send to Person 2' })
  await user.click(screen.getByRole('radio', { name: 'Person 1' }))
  const release = network.hold('desk_discard')
  await press('Remove: Person 1')
  await user.click(tick)
  release()
  await announced('Person 1: draft removed')
  expect(screen.getByRole<HTMLInputElement>('checkbox', { name: 'Send to Person 2' }).checked).toBe(false)
})

test('the box of a form that was not saved after its screen was left goes once the form is saved with another text', async () => {
  const { fill, network, press, announced, goTo } = await desk.open('/door')
  const sentence = () => screen.findByLabelText('Sentence for applicants')
  await fill(await sentence(), 'We are full.')
  const refused = deferred()
  const end = network.route('desk_set_door', async () => {
    await refused.promise
    return refusal('Not now.', 400, '22023')
  })
  await press('Save')
  goTo('/history')
  await heading('History')
  refused.resolve()
  await waitFor(() => expect(problems()).toEqual(['Door: not saved. Not now.']))
  end()
  goTo('/door')
  await fill(await sentence(), 'We are very full.')
  await press('Save')
  await announced('Saved. The door is open.')
  expect(problems()).toEqual([])
})

test('the line about a mark that is typed while the mark is being saved stays', async () => {
  const [ada] = await desk.store([{ first_name: 'Ada', last_name: 'N' }])
  const { fill, network, press, announced } = await desk.open(`/applications/${ada?.id}`)
  const release = network.hold('desk_mark')
  await press('Yes')
  const why = screen.getByLabelText<HTMLInputElement>('Reason (one line)')
  await fill(why, 'Knows what to leave behind.')
  release()
  await announced('Ada N: your mark is Yes')
  expect(why.value).toBe('Knows what to leave behind.')
})

test('a stale read does not remove a newly added note from the screen', async () => {
  const [application] = await desk.store([{ first_name: 'Ada', last_name: 'Lovelace' }])
  const { fill, follow, network, press, announced } = await desk.open(`/applications/${application?.id}`)
  await button('Add note')
  await follow('Back')
  await heading('Applications')
  // The next read is answered at once, and its response arrives late.
  const { promise: isLate, resolve: goOn } = deferred()
  const read = new Promise<void>((resolve) => {
    const end = network.route('desk_application', async ({ send }) => {
      end()
      const response = await send()
      resolve()
      await isLate
      return response
    })
  })
  await follow('Ada Lovelace')
  await read
  await fill(await screen.findByLabelText('Note'), 'A strong one.')
  await press('Add note')
  await announced('Note added')
  goOn()
  await network.settled()
  expect(timeline().at(-1)).toContain('A strong one.')
})

test('signing out asks each time while a note or a decision is being saved, and not afterwards', async () => {
  const [stored] = await desk.store(people(1))
  const { user, fill, follow, network, press, announced } = await desk.open(`/applications/${stored?.id}`, {
    as: await desk.server.signedIn('grace@example.org'),
  })
  const confirm = vi.fn<() => boolean>(() => false)
  vi.stubGlobal('confirm', confirm)
  atTestEnd(() => void vi.unstubAllGlobals())
  const releaseNote = network.hold('desk_note')
  await fill(await screen.findByLabelText('Note'), 'Ask her.')
  await press('Add note')
  await press('Sign out')
  expect(confirm.mock.calls).toEqual([['Sign out before your changes are saved?']])
  releaseNote()
  await announced('Note added')
  for (const [act, key, outcome] of [
    ['Sign out', 'a', 'Accepted'],
    ['End all sessions', 'w', 'Waitlisted'],
  ] as const) {
    await heading('Person 1')
    const release = network.hold('desk_decide')
    await user.keyboard(key)
    expect(pill()).toBe(`${outcome} (saving)`)
    await follow('Account')
    await heading('Account')
    const [first] = await screen.findAllByRole('button', { name: act })
    if (first) await user.click(first)
    release()
    await announced(`Person 1: ${outcome}`)
    history.back()
  }
  expect(confirm).toHaveBeenCalledTimes(3)
  await heading('Person 1')
  await network.settled()
  await press('Sign out')
  expect(confirm).toHaveBeenCalledTimes(3)
  await heading('Sign in')
})

test('the second click of a double click does not repeat a refused decision', async () => {
  const stored = await desk.store(people(2))
  const { user, goTo, network } = await desk.open()
  // Two refusals, since a colleague decided differently on each.
  for (const [index, status] of [
    [0, 'waitlisted'],
    [1, 'shortlisted'],
  ] as const) {
    goTo(`/applications/${stored[index]?.id}`)
    await heading(`Person ${index + 1}`)
    await button('Decline')
    await network.settled()
    await desk.setStatus(stored.slice(index, index + 1), status)
    await user.keyboard('d')
    await waitFor(() => expect(problems()[index]).toContain(`Person ${index + 1}:`))
  }
  const again = () => screen.getAllByRole('button', { name: 'Decline anyway' })
  fireEvent.click(again()[0] ?? document.body, { detail: 2 })
  await network.settled()
  expect(again()).toHaveLength(2)
})

test('a second press of “Stop all letters” does not send them', async () => {
  const { network, press, announced } = await desk.open('/letters')
  await press('Stop all letters')
  await announced('All letters are stopped.')
  await button('Resume sending')
  await press('Stop all letters')
  await network.settled()
  expect(await desk.sql`select stopped from private.postman`).toEqual([{ stopped: true }])
  await press('Resume sending')
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Resume sending' })).toBeNull())
  expect(focusedWords()).toBe('Stop all letters')
})

test('a retreat whose response was lost is begun once, and one that a colleague began is not followed by another', async () => {
  const { fill, goTo, network, press, announced, activateWindow } = await desk.open('/retreats')
  const name = () => screen.findByLabelText<HTMLInputElement>('Name')
  const began = (retreat: string) =>
    waitFor(() => expect(screen.getByText(/has begun meanwhile/).textContent).toContain(retreat))
  await fill(await name(), 'Spring 2028')
  // Both tries reach the server, and neither response arrives.
  const end = network.route('desk_begin_edition', async ({ send }) => {
    await send()
    return disconnect()
  })
  await press('Begin retreat')
  await press('Begin now')
  await began('Spring 2028')
  end()
  await press('Begin retreat')
  await press('Begin now')
  await announced(/^Spring 2028 has begun\./)
  await heading('Days and places')
  const editions = () => desk.sql`select name from private.editions order by id desc`
  expect(await editions()).toEqual([{ name: 'Spring 2028' }, { name: '' }])

  goTo('/retreats')
  await heading('Next retreat')
  await fill(await name(), 'Autumn 2028')
  await press('Begin retreat')
  await beginEdition(desk.sql, 'Summer 2028')
  await activateWindow()
  await began('Summer 2028')
  await press('Begin now')
  await screen.findByText('Somebody else has begun a retreat meanwhile.', { exact: false })
  expect(await editions()).toHaveLength(3)
  await press('Discard')
  expect((await name()).value).toBe('')
  expect(focusedWords()).toBe('Next retreat')
})

test('an act whose response was lost is the same act after a reload', async () => {
  const [ada] = await desk.store([{ first_name: 'Ada', last_name: 'N' }])
  await desk.setStatus([{ id: ada?.id ?? '' }], 'accepted')
  const { network, press, reload } = await desk.open(`/applications/${ada?.id}`)
  const end = network.route('desk_write', async ({ send }) => {
    await send()
    return disconnect()
  })
  await press('Draft from template')
  await screen.findByText(/^Not confirmed\./)
  end()
  reload()
  await press('Draft from template')
  await screen.findByText('There is a draft already, below.')
  expect(await desk.sql`select count(*)::int from private.acts where call = 'desk_write'`).toEqual([
    { count: 1 },
  ])
})

test('a mark whose response was lost can be given again after another one', async () => {
  const [ada] = await desk.store([{ first_name: 'Ada', last_name: 'N' }])
  const { user, network, announced } = await desk.open(`/applications/${ada?.id}`)
  await screen.findByRole('region', { name: 'Your mark' })
  const end = network.route('desk_mark', async ({ send }) => {
    await send()
    return disconnect()
  })
  await user.keyboard('1')
  await screen.findByText(/^Not confirmed\./)
  end()
  await user.keyboard('3')
  await announced('Ada N: your mark is No')
  await user.keyboard('1')
  await announced('Ada N: your mark is Yes')
  expect(await desk.sql`select mark from private.marks`).toEqual([{ mark: 'yes' }])
})

test('“Try again” sends the note that was pressed, and keeps the text that was typed since', async () => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'N' }])
  const { user, fill, network, press, announced, goTo } = await desk.open(`/applications/${id}`)
  const note = () => screen.findByLabelText<HTMLTextAreaElement>('Note')
  await fill(await note(), 'Call her')
  const held = deferred()
  const end = network.route('desk_note', () => held.promise.then(disconnect))
  await press('Add note')
  goTo('/history')
  await heading('History')
  held.resolve()
  await waitFor(() => expect(problems()).toEqual([expect.stringMatching(/^Ada N: /)]))
  end()
  goTo(`/applications/${id}`)
  await fill(await note(), 'Call her on Monday')
  await user.click(await button('Try again'))
  await announced('Note added')
  expect((await note()).value).toBe('Call her on Monday')
  expect(await desk.sql`select detail ->> 'note' as note from private.history where kind = 'note'`).toEqual([
    { note: 'Call her' },
  ])
})

test('a note whose response is lost is the same note if it is added again, although an earlier one was pending', async () => {
  const [{ id } = { id: '' }] = await desk.store([{ first_name: 'Ada', last_name: 'N' }])
  const { fill, network, press, announced, goTo } = await desk.open(`/applications/${id}`)
  const note = () => screen.findByLabelText<HTMLTextAreaElement>('Note')
  const [first, second] = [deferred(), deferred()]
  const end = network.route('desk_note', async ({ args, send }) => {
    if (args['note'] === 'First') return first.promise.then(send)
    await second.promise
    await send()
    return disconnect()
  })
  await fill(await note(), 'First')
  await press('Add note')
  goTo('/history')
  await heading('History')
  goTo(`/applications/${id}`)
  await fill(await note(), 'Second')
  await press('Add note')
  first.resolve()
  await announced('Note added')
  second.resolve()
  await screen.findByText(/^Not confirmed\./)
  end()
  await press('Add note')
  await announced('Note added')
  await network.settled()
  const notes =
    await desk.sql`select detail ->> 'note' as note from private.history where kind = 'note' order by id`
  expect(notes.map((each) => each['note'])).toEqual(['First', 'Second'])
})

test('the late failure of a mark does not ask to give it again once another one was given', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(2))
  const { user, network, announced, follow } = await desk.open(`/applications/${id}`, { goesOn: true })
  await screen.findByRole('region', { name: 'Your mark' })
  await network.settled()
  const held = deferred()
  const end = network.route('desk_mark', () => held.promise.then(disconnect))
  await user.keyboard('1')
  await heading('Person 2')
  end()
  await follow('Previous')
  await heading('Person 1')
  await screen.findByRole('region', { name: 'Your mark' })
  await user.keyboard('3')
  await announced('Person 1: your mark is No')
  held.resolve()
  await network.settled()
  expect(problems()).toEqual([])
  expect(await desk.sql`select mark from private.marks`).toEqual([{ mark: 'no' }])
})

test('a form and the line about a mark that were saved after their screen was left have no unsaved text', async () => {
  const [{ id } = { id: '' }] = await desk.store(people(2))
  const { user, fill, network, press, announced, goTo } = await desk.open('/door')
  const sentence = () => screen.findByLabelText<HTMLInputElement>('Sentence for applicants')
  await fill(await sentence(), 'We are full.')
  const release = network.hold('desk_set_door')
  await press('Save')
  goTo('/history')
  await heading('History')
  release()
  await announced(/^Saved\. The door/)
  await desk.sql`update private.door set sentence = 'See you next year.', version = version + 1`
  goTo('/door')
  await waitFor(async () => expect((await sentence()).value).toBe('See you next year.'))

  goTo(`/applications/${id}`)
  await fill(await screen.findByLabelText('Reason (one line)'), 'Warm.')
  const releaseMark = network.hold('desk_mark')
  await press('Yes')
  goTo('/history')
  await heading('History')
  releaseMark()
  await announced('Person 1: your mark is Yes')
  await desk.sql`update private.marks set why = 'Very warm.'`
  goTo(`/applications/${id}`)
  const why = () => screen.findByLabelText<HTMLInputElement>('Reason (one line)')
  await waitFor(async () => expect((await why()).value).toBe('Very warm.'))
  await user.keyboard('{Escape}')
})

test('steps that are ticked while another is being saved are saved too', async () => {
  const { user, network } = await desk.open('/first-steps')
  const tick = (name: string) => screen.findByRole<HTMLInputElement>('checkbox', { name })
  const release = network.hold('desk_tick_step')
  await user.click(await tick('Read every template in full.'))
  await user.click(await tick('Share the page.'))
  expect([
    (await tick('Read every template in full.')).checked,
    (await tick('Share the page.')).checked,
  ]).toEqual([true, true])
  release()
  await network.settled()
  // The two calls may be answered in any order.
  expect(await desk.sql`select unnest(ticked) as step from private.first_steps order by 1`).toEqual([
    { step: 'read' },
    { step: 'shared' },
  ])
})

test('questions that are being written stay with their retreat when the next one begins', async () => {
  const { fill, goTo, press, activateWindow } = await desk.open('/questions')
  await press('Add question')
  await fill(await screen.findByLabelText('Question'), 'When do you arrive?')
  await beginEdition(desk.sql, 'Spring 2028')
  await activateWindow()
  await screen.findByText(/There are no questions yet\./)
  goTo('/questions?edition=1')
  const question = await within(await screen.findByRole('main')).findByLabelText<HTMLInputElement>('Question')
  expect(question.value).toBe('When do you arrive?')
})
