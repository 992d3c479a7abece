import { expect, test } from 'vitest'

import type { CallDesk } from '../../../client/desk.ts'
import type { Exported, Page } from '../../../client/desk/applications.ts'
import { anApplication } from '../../../../testing/form.ts'
import { readTable } from './export.ts'

const row = (): Exported => ({
  ...anApplication(),
  id: crypto.randomUUID(),
  created_at: '2026-11-22T10:03:04.567891+00:00',
  status: 'accepted',
  version: 1,
  same_email: false,
  answer_state: null,
  answer: null,
  answered_at: null,
  kept_until: null,
  decided_by: 'ada@example.org',
  decided_at: '2026-11-22T10:03:04.567891+00:00',
  notes: [],
  letters: [],
})

/** A desk that answers these pages, and what it was asked for. */
function deskOf(pages: (Exported[] | Error)[]) {
  const asked: unknown[] = []
  const callDesk = async (_name: string, given: { after?: unknown }): Promise<Page<Exported>> => {
    asked.push(given.after)
    const answer = pages[asked.length - 1] ?? []
    if (answer instanceof Error) throw answer
    const next = { created_at: '2026-11-22T00:00:00+00:00', id: String(asked.length) }
    return { applications: answer, next: asked.length < pages.length ? next : null }
  }
  return { callDesk: callDesk as CallDesk, asked }
}

const { signal } = new AbortController()

test('pages are asked for until there is no next one, also where one of them is empty', async () => {
  const rows = [row(), row(), row()] as const
  const { callDesk, asked } = deskOf([[rows[0], rows[1]], [], [rows[2]]])
  const counts: number[] = []
  const { file, count } = await readTable(callDesk, {}, (so) => counts.push(so), signal)
  expect(asked.map((after) => (after as Exported | null)?.id ?? null)).toEqual([null, '1', '2'])
  expect({ count, counts }).toEqual({ count: 3, counts: [2, 2, 3] })
  expect(new Uint8Array(await file.slice(0, 3).arrayBuffer())).toEqual(new Uint8Array([0xef, 0xbb, 0xbf]))
  const [header, ...lines] = (await file.text()).split(/\r\n(?=[0-9a-f]{8}-)/)
  expect(header).toMatch(
    /id,created_at,first_name,.*,consent,status,answer,answered_at,decided_by,decided_at,notes,letters$/,
  )
  expect(lines.map((line) => line.slice(0, 61))).toEqual(
    rows.map(({ id }) => `${id},2026-11-22T10:03:04.567Z`),
  )
  expect(
    lines.every((line) => /,true,accepted,,,ada@example.org,2026-11-22T10:03:04.567Z,,(\r\n)?$/.test(line)),
  ).toBe(true)
})

test('columns that are hidden are left out', async () => {
  const { first_name: _1, last_name: _2, email: _3, phone: _4, linkedin: _5, company: _6, ...shown } = row()
  const { file } = await readTable(deskOf([[shown]]).callDesk, {}, () => {}, signal)
  expect((await file.text()).split('\r\n')[0]).toBe(
    'id,created_at,paid_solution,paid_solution_label,custom_solution,team_size,team_size_label,reason,consent,status,answer,answered_at,decided_by,decided_at,notes,letters',
  )
})

test('a table is whole or is none: pages that differ, one that fails, and a stop', async () => {
  const { email: _, ...shown } = row()
  const read = (pages: (Exported[] | Error)[], stopped = signal) =>
    readTable(deskOf(pages).callDesk, {}, () => {}, stopped)
  await expect(read([[row()], [shown]])).rejects.toThrow('Blind reading was switched meanwhile')
  await expect(read([[row()], new TypeError('Failed to fetch')])).rejects.toThrow('Failed to fetch')
  await expect(read([[row()]], AbortSignal.abort())).rejects.toThrow('aborted')
})
