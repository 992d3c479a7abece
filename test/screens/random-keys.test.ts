import { screen, waitFor } from '@testing-library/dom'
import { expect, test } from 'vitest'

import { statuses, type Status } from '../../src/application/statuses.ts'
import { people } from '../support/applicants.ts'
import { pill, problems } from '../support/desk-parts.ts'
import { deskScreensForTestFile } from '../support/opened-desk.ts'
import { extent, seedsOf } from '../support/quick-or-long.ts'
import { randomFrom } from '../support/random.ts'

const desk = deskScreensForTestFile()
const allStatuses = ['new', 'shortlisted', 'accepted', 'waitlisted', 'declined'] as const satisfies Status[]
const decisionKeys = { s: 'shortlisted', a: 'accepted', w: 'waitlisted', d: 'declined', r: 'new' } as const
const markKeys = { 1: 'yes', 2: 'maybe', 3: 'no' } as const
const actCount = extent({ quick: 12, long: 25 })

/** The id of the open application, and the status of its list. */
function shown() {
  const [, id] = /^#\/applications\/([\da-f-]{36})/.exec(location.hash) ?? []
  const status = new URLSearchParams(location.hash.split('?')[1]).get('status') ?? 'new'
  return { id, status }
}
const historyOf = (id: string) => desk.sql<{ author: string; status: string }[]>`
  select author, detail ->> 'status' as status from private.history
  where kind = 'status' and application_id = ${id} order by id`
const isEndShown = () =>
  screen.queryByText(/^(All \d+ are read|The only one is read|This was the last one of this list)\./) !== null

const expectStatus = (id: string) =>
  waitFor(async () => expect(pill()).toBe(statuses[(await desk.statusOf(id)) as Status]))

/** Plays random acts, and expects the screen and the database to be right after each. Returns the number of acts. */
async function playHour(seed: number): Promise<number> {
  const random = randomFrom(seed)
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)] as Item
  const stored = await desk.store(people(12))
  const ids = stored.map(({ id }) => id)
  for (const each of stored) if (random() < 0.6) await desk.setStatus([each], pick(allStatuses))
  const opened = await desk.open('/', { goesOn: true })
  const { user, network, press, goTo, refresh, reload } = opened
  opened.allowConsoleError(/Failed to load resource|offline/)
  let isBlind = false
  /** The ids that Bob has moved since the list was opened, which the open list does not know. */
  let movedByBob = new Set<string>()

  const openApplication = async () => {
    const status = pick(allStatuses)
    goTo(`/?status=${status}`)
    await network.settled()
    movedByBob = new Set()
    const rows = [...document.querySelectorAll('tbody th a')]
    if (rows.length === 0) return
    const row = pick(rows)
    await user.click(row)
    await waitFor(() => expect(shown().id).toBe(row.id))
    await network.settled()
  }
  /** Expects that the next application of the list is shown, without a gap, or that the end of the list is said. */
  const expectNext = async (from: string, list: string) => {
    const later = ids.slice(ids.indexOf(from) + 1)
    await waitFor(() => expect(shown().id !== from || isEndShown()).toBe(true))
    const to = shown().id ?? ''
    const passed = to === from ? later : later.slice(0, later.indexOf(to))
    expect([from, ...later]).toContain(to)
    const skipped: string[] = []
    for (const id of passed) if (!movedByBob.has(id) && (await desk.statusOf(id)) === list) skipped.push(id)
    expect(skipped).toEqual([])
  }

  const acts: Record<string, () => Promise<unknown>> = {
    open: openApplication,
    async decide() {
      const { id, status: list } = shown()
      if (id === undefined) return openApplication()
      const key = pick(Object.keys(decisionKeys) as (keyof typeof decisionKeys)[])
      const wanted = decisionKeys[key]
      const isChange = pill() !== statuses[wanted]
      await user.keyboard(key)
      await network.settled()
      expect(await desk.statusOf(id)).toBe(wanted)
      if (!isChange) return
      expect((await historyOf(id)).at(-1)).toEqual({ author: 'ada@example.org', status: wanted })
      if (wanted !== list) await expectNext(id, list)
    },
    async mark() {
      const { id, status: list } = shown()
      if (id === undefined) return openApplication()
      const key = pick(['1', '2', '3'] as const)
      const ownMark = async () =>
        (
          await desk.sql<{ mark: string }[]>`
          select mark from private.marks where application_id = ${id} and author = 'ada@example.org'`
        )[0]?.mark
      const former = await ownMark()
      await user.keyboard(key)
      await network.settled()
      expect(await ownMark()).toBe(markKeys[key])
      // A mark leaves an application in its list, so the next row is the one below, unless it has left.
      if (former !== markKeys[key]) await expectNext(id, list)
    },
    async undo() {
      await user.keyboard('z')
      await network.settled()
    },
    async bob() {
      const each = pick(stored)
      movedByBob.add(each.id)
      await desk.setStatus([each], pick(allStatuses))
      await refresh()
      await network.settled()
    },
    async offline() {
      const { id } = shown()
      const key = pick(Object.keys(decisionKeys) as (keyof typeof decisionKeys)[])
      if (id === undefined || pill() === statuses[decisionKeys[key]]) return openApplication()
      const before = await historyOf(id)
      network.setOffline(true)
      await user.keyboard(key)
      await network.settled()
      expect(await historyOf(id)).toEqual(before)
      expect(problems()).not.toEqual([])
      network.setOffline(false)
      await refresh()
      await network.settled()
      // A decision that was not saved is offered again, and then saved.
      await press('Try again')
      await network.settled()
      expect(await desk.statusOf(id)).toBe(decisionKeys[key])
    },
    async blind() {
      isBlind = !isBlind
      await desk.ada.client.rpc('desk_set_blind', { blind: isBlind }).throwOnError()
      reload()
      await network.settled()
    },
  }
  await openApplication()
  for (let count = 0; count < actCount; count += 1) {
    const name = pick([...Object.keys(acts), 'decide', 'decide', 'mark'])
    try {
      await acts[name]?.()
      await refresh()
      await network.settled()
      const { id } = shown()
      if (id !== undefined) await expectStatus(id)
      const names = isBlind ? document.body.textContent.match(/Person \d+/g) : null
      expect(names).toBeNull()
    } catch (error) {
      throw new Error(`${name}, act ${count}, at ${location.hash}`, { cause: error })
    }
  }
  return actCount
}

test.each(seedsOf({ quick: 1, long: 40 }))(
  'keys go on to the next row of any list, skip nobody and lose nothing, beside another organiser, offline and blind: seed %i',
  async (seed) => {
    expect(await playHour(seed)).toBe(actCount)
  },
)
