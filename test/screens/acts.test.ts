import { screen, waitFor, within } from '@testing-library/dom'
import { beforeEach, expect, test, vi } from 'vitest'

import { deferred } from '../support/deferred.ts'
import { waitingNoticeDelay } from '../../src/pages/desk/data/useDeskAct.ts'
import { actCases, controlOf, prepareAct, type ActCase, type Step } from '../support/act-cases.ts'
import { atTestEnd } from '../support/cleanup.ts'
import { deskScreensForTestFile, skipDelays, type OpenedDesk } from '../support/opened-desk.ts'
import { extent, seed } from '../support/quick-or-long.ts'
import { releaseDrafts } from '../support/letters.ts'
import { disconnect, refusal } from '../support/intercepted-fetch.ts'
import { randomFrom } from '../support/random.ts'

/** How the call of an act ends. */
const outcomes = ['offline', 'slow', 'refused', 'aborted', 'response lost'] as const
/** How the screen of the act is opened. */
const openings = ['by its address', 'from the list', 'by Back'] as const
const presses = ['once', 'twice'] as const

interface Combination {
  outcome: (typeof outcomes)[number]
  opening: (typeof openings)[number]
  pressed: (typeof presses)[number]
}

const combinations: Combination[] = outcomes.flatMap((outcome) =>
  openings.flatMap((opening) => presses.map((pressed) => ({ outcome, opening, pressed }))),
)

/** Three combinations for each act, or all. */
function combinationsOf(act: number): Combination[] {
  const random = randomFrom(seed + act)
  const rest = [...combinations]
  const sample = Array.from({ length: 3 }, () => rest.splice(Math.floor(random() * rest.length), 1)).flat()
  return extent({ quick: sample, long: combinations })
}

const desk = deskScreensForTestFile()
// There is no mail program to open.
beforeEach(() => {
  const click = vi.spyOn(HTMLAnchorElement.prototype, 'click').mockReturnValue()
  atTestEnd(() => click.mockRestore())
})

async function openScreen(path: string, opening: Combination['opening']) {
  const opened = await desk.open(opening === 'from the list' ? '/' : path)
  if (opening === 'from the list') {
    await screen.findByRole('heading', { level: 1, name: 'Applications' })
    opened.goTo(path)
  } else if (opening === 'by Back') {
    await screen.findByRole('heading', { level: 1 })
    opened.goTo('/history')
    await screen.findByRole('heading', { level: 1, name: 'History' })
    history.back()
  }
  return opened
}

async function take({ user, fill }: OpenedDesk, step: Step) {
  if ('press' in step) await user.click(await screen.findByRole('button', { name: step.press }))
  else if ('text' in step) await fill(await screen.findByLabelText(step.field), step.text)
  else await user.selectOptions(await screen.findByLabelText(step.field), step.option)
}

/** Waits until the control of an act can be pressed. */
async function findControl(actCase: ActCase) {
  const { role, name, within: around } = controlOf(actCase)
  const part = around ? within(await screen.findByRole(around.role, { name: around.name })) : screen
  const control = await part.findByRole(role, { name })
  await waitFor(() => expect(control.matches(':disabled, [aria-disabled]')).toBe(false))
  return control
}

/** Makes the calls of an act end with this outcome, and holds all other calls. Only the first response is lost. */
function setOutcome({ network }: OpenedDesk, act: string, outcome: Combination['outcome']) {
  const tries = () => network.calls.filter((name) => name === act).length
  const releaseOthers = network.hold()
  if (outcome === 'offline') network.setOffline(true)
  const { promise: released, resolve: release } = deferred()
  const end = network.route(act, async ({ send }) => {
    if (outcome === 'aborted') return disconnect()
    if (outcome === 'refused') return refusal()
    if (outcome === 'slow') await released
    const response = await send()
    return outcome === 'response lost' && tries() === 1 ? disconnect() : response
  })
  return {
    tries,
    release,
    end() {
      network.setOffline(false)
      end()
      releaseOthers()
    },
  }
}

const shownAlerts = () =>
  screen.queryAllByRole('alert').map((alert) => alert.querySelector('p')?.textContent ?? alert.textContent)

test.for(
  Object.entries(actCases).flatMap(([act, actCase], index) =>
    combinationsOf(index).map((combination) => ({ act, actCase, ...combination })),
  ),
)(
  '$act announces its result at once, and is stored once, or never if it fails: $outcome, opened $opening, pressed $pressed',
  async ({ act, actCase, outcome, opening, pressed }) => {
    const { announcement, failure, unconfirmed, isQueued = false, input } = actCase
    const count = async () => (await desk.sql.unsafe(actCase.query)).length
    const id = await prepareAct(desk, actCase)
    const opened = await openScreen(actCase.path.replace(':id', id), opening)
    const { user, fill, announced, goTo } = opened
    // The account's screen reads the second factors by the auth client, which writes its failures there.
    if (outcome === 'offline') opened.allowConsoleError(/Failed to fetch/)
    for (const step of actCase.before ?? []) await take(opened, step)
    const field = input && (await screen.findByLabelText<HTMLInputElement>(input[0]))
    if (field) await fill(field, input[1])
    const control = await findControl(actCase)
    const call = setOutcome(opened, act, outcome)
    if (outcome === 'slow') atTestEnd(skipDelays([waitingNoticeDelay]))
    await (pressed === 'once' ? user.click(control) : user.dblClick(control))

    if (outcome === 'slow') {
      if (isQueued) await screen.findByText('(saving)')
      else await announced('Waiting for the server…')
      call.release()
    }
    const unreachable = 'The server could not be reached. Please check your connection.'
    const expected: Record<typeof outcome, { message?: string; tries: number }> = {
      offline: { message: `${failure} You were offline.`, tries: 1 },
      slow: { tries: 1 },
      refused: { message: `${failure} boom`, tries: 1 },
      aborted: { message: `${unconfirmed ?? 'Not confirmed.'} ${unreachable}`, tries: isQueued ? 3 : 2 },
      'response lost': { tries: 2 },
    }
    const { message, tries } = expected[outcome]
    const isDone = message === undefined
    // The result must not wait for a refresh.
    await waitFor(async () => expect(await count()).toBe(isDone ? 1 : 0))
    if (isDone && announcement !== '') await announced(announcement)
    await waitFor(() => expect(shownAlerts()).toEqual(expect.arrayContaining(isDone ? [] : [message])))
    await waitFor(() => expect(call.tries()).toBe(tries))
    expect(isDone || field?.value).toBe(isDone || input?.[1])
    await waitFor(() => expect(document.querySelector('button[aria-busy], input[aria-busy]')).toBeNull())

    // The act must not be sent again later.
    call.end()
    goTo('/history')
    await screen.findByRole('heading', { level: 1, name: 'History' })
    await waitFor(() => expect(opened.network.calls).toContain('desk_history'))
    expect(call.tries()).toBe(tries)
    expect(await count()).toBe(isDone ? 1 : 0)
  },
)

test('a saved draft is shown and can be edited before the screen refreshes', async () => {
  await prepareAct(desk)
  const { user, fill, network, announced } = await desk.open('/letters/drafts/accepted')
  const draft = within(await screen.findByRole('article', { name: 'Ada Lovelace' }))
  const edit = () => draft.findByRole('button', { name: 'Edit: Ada Lovelace' })
  await user.click(await edit())
  const release = network.hold()
  const sendSaves = network.route('desk_edit', ({ send }) => send())
  for (const subject of ['Come', 'Come soon']) {
    await fill(draft.getByLabelText('Subject'), subject)
    await user.click(draft.getByRole('button', { name: 'Save' }))
    await draft.findByText(subject)
    await announced('Ada Lovelace: changed')
    await user.click(await edit())
    expect(draft.getByLabelText<HTMLInputElement>('Subject').value).toBe(subject)
  }
  sendSaves()
  release()
  expect(await desk.sql`select from private.letters where subject = 'Come soon'`).toHaveLength(1)
})

test('an RSVP appears with its announcement, before the screen refreshes', async () => {
  const id = await prepareAct(desk)
  const { user, network, announced } = await desk.open(`/applications/${id}`)
  const coming = await screen.findByRole('button', { name: 'Coming' })
  network.hold()
  network.route('desk_set_answer', ({ send }) => send())
  await user.click(coming)
  await announced('Ada Lovelace: Coming')
  screen.getByText(/^Coming, answered/)
  expect(coming.getAttribute('aria-pressed')).toBe('true')
})

test('stopping all letters hides their countdown, and resuming gives them a new minute', async () => {
  await prepareAct(desk, { prepare: (sql) => releaseDrafts(sql, { dueIn: 3_600 }) })
  const { user, network, announced } = await desk.open('/letters')
  await screen.findByRole('button', { name: 'Stop 1 letter' })
  const release = network.hold()
  network.route('desk_stop', ({ send }) => send())
  await user.click(screen.getByRole('button', { name: 'Stop all letters' }))
  await waitFor(() => expect(screen.queryByRole('button', { name: 'Stop 1 letter' })).toBeNull())
  release()
  await user.click(await screen.findByRole('button', { name: 'Send the stopped letter' }))
  await announced('1 letter will be sent in 1:00.')
  const bar = await screen.findByRole('region', { name: 'On their way' })
  await waitFor(() => expect(bar.textContent).toMatch(/^1 letter to .+ will be sent in (1:00|0:\d\d)\./))
  expect(await desk.sql`select from private.deliveries where due_at > now() + interval '1 minute'`).toEqual(
    [],
  )
})

test('letters that another organiser stopped have no countdown, and can be sent', async () => {
  await prepareAct(desk, { prepare: (sql) => releaseDrafts(sql, { dueIn: 3_600 }) })
  const { refresh } = await desk.open('/letters')
  await screen.findByRole('button', { name: 'Stop 1 letter' })
  await desk.bob.client.rpc('desk_stop', { stopped: true }).throwOnError()
  await refresh()
  await screen.findByRole('button', { name: 'Send the stopped letter' })
  expect(screen.queryByRole('button', { name: 'Stop 1 letter' })).toBeNull()
})

test('saving an unchanged form does not overwrite another organiser’s changes', async () => {
  const { user } = await desk.open('/door')
  const sentence = await screen.findByLabelText<HTMLInputElement>('Sentence for applicants')
  const door = { version: 0, closed: false, closes_at: null, closes_after: null }
  await desk.bob.client.rpc('desk_set_door', { ...door, sentence: 'By Bob.' }).throwOnError()
  await user.click(screen.getByRole('button', { name: 'Save' }))
  await waitFor(() => expect(sentence.value).toBe('By Bob.'))
  await screen.findByRole('button', { name: 'Save' })
  expect(screen.queryByRole('button', { name: 'Save anyway' })).toBeNull()
})

test('an accepted applicant’s draft can be read and sent on the application’s screen', async () => {
  const id = await prepareAct(desk)
  const { user, announced } = await desk.open(`/applications/${id}`)
  await screen.findByRole('heading', { name: 'Draft: Accepted' })
  await user.click(screen.getByRole('button', { name: 'Send 1 letter' }))
  const dialog = within(screen.getByRole('dialog', { name: 'Send 1 letter?' }))
  await user.click(dialog.getByRole('button', { name: 'Send 1 letter' }))
  await announced('1 letter on the way')
  await screen.findByRole('button', { name: 'Stop 1 letter' })
})
