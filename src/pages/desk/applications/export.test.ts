import { expect, test, vi } from 'vitest'

import { csvHeader, csvLines, deskColumns } from '../../../application/csv.ts'
import type { CallDesk } from '../../../client/desk.ts'
import type { ExportedApplication, Page } from '../../../client/desk/applications.ts'
import { readCsv } from '../../../../test/support/csv.ts'
import { atTestEnd } from '../../../../test/support/cleanup.ts'
import { anApplication } from '../../../../test/support/form.ts'
import * as announcing from '../kit/announce.tsx'
import * as saving from '../kit/save-file.ts'
import { readTable, saveTable } from './export.ts'

const row = (): ExportedApplication => ({
  ...anApplication(),
  id: crypto.randomUUID(),
  created_at: '2026-11-22T10:03:04.567891+00:00',
  status: 'accepted',
  version: 1,
  same_email: false,
  answer_state: null,
  answer: null,
  answered_at: null,
  marks: [],
  questions: [],
  kept_until: null,
  added_by: null,
  withdrawn_at: null,
  decided_by: 'ada@example.org',
  decided_at: '2026-11-22T10:03:04.567891+00:00',
  notes: [],
  letters: [],
})

/** A desk that responds with these pages, and the cursors of the calls that it received. */
function deskOf(pages: (ExportedApplication[] | Error)[]) {
  const cursors: unknown[] = []
  const callDesk = async (name: string, args: { after?: unknown }): Promise<Page<ExportedApplication>> => {
    expect(name).toBe('desk_export')
    cursors.push(args.after)
    const page = pages[cursors.length - 1] ?? []
    if (page instanceof Error) throw page
    const next = { created_at: '2026-11-22T00:00:00+00:00', id: String(cursors.length) }
    return { applications: page, next: cursors.length < pages.length ? next : null }
  }
  return { callDesk: callDesk as CallDesk, cursors }
}

const { signal } = new AbortController()

test('pages are read until there is no next page, even after an empty page', async () => {
  const rows = [row(), row(), row()] as const
  const { callDesk, cursors } = deskOf([[rows[0], rows[1]], [], [rows[2]]])
  const counts: number[] = []
  const { file, count } = await readTable(callDesk, {}, (soFar) => counts.push(soFar), signal)
  expect(cursors.map((after) => (after as ExportedApplication | null)?.id ?? null)).toEqual([null, '1', '2'])
  expect({ count, counts }).toEqual({ count: 3, counts: [2, 2, 3] })
  expect(file.type).toBe('text/csv')
  expect(new Uint8Array(await file.slice(0, 3).arrayBuffer())).toEqual(new Uint8Array([0xef, 0xbb, 0xbf]))
  const table = readCsv(await file.text())
  expect(`${table.header.join()}\r\n`).toBe(csvHeader(deskColumns))
  const moment = '2026-11-22T10:03:04.567Z'
  expect(table.rows).toMatchObject(
    rows.map(({ id }) => ({
      id,
      created_at: moment,
      consent: 'true',
      status: 'accepted',
      answer: '',
      decided_by: 'ada@example.org',
      decided_at: moment,
      notes: '',
      letters: '',
    })),
  )
})

test('the file has no columns that blind reading hides', async () => {
  const { first_name: _1, last_name: _2, email: _3, phone: _4, linkedin: _5, company: _6, ...shown } = row()
  const columns = deskColumns.filter((column) => column in shown)
  expect(columns).toHaveLength(deskColumns.length - 6)
  const { file } = await readTable(deskOf([[shown]]).callDesk, {}, () => {}, signal)
  expect(await file.text()).toBe(
    csvHeader(columns) + csvLines([{ ...shown, created_at: new Date(shown.created_at) }], columns),
  )
})

test('no file is made if the columns of pages differ, a page fails or the download is stopped', async () => {
  const { email: _, ...shown } = row()
  const read = (pages: (ExportedApplication[] | Error)[], stopped = signal) =>
    readTable(deskOf(pages).callDesk, {}, () => {}, stopped)
  await expect(read([[row()], [shown]])).rejects.toThrow('Blind reading was switched meanwhile')
  await expect(read([[row()], new TypeError('Failed to fetch')])).rejects.toThrow('Failed to fetch')
  await expect(read([[row()]], AbortSignal.abort())).rejects.toThrow('aborted')
})

test('a download is announced as stopped, before its first page or after it, and not if it is read to its end', async () => {
  const announce = vi.spyOn(announcing, 'announce').mockReturnValue()
  atTestEnd(() => announce.mockRestore())
  const readWith = (stop: AbortController) =>
    readTable(deskOf([[row()], [row()]]).callDesk, {}, () => stop.abort(), stop.signal)
  await readTable(deskOf([[row()]]).callDesk, {}, () => {}, new AbortController().signal)
  expect(announce).not.toHaveBeenCalled()
  const stopped = new AbortController()
  stopped.abort()
  for (const stop of [stopped, new AbortController()]) {
    announce.mockClear()
    await expect(readWith(stop)).rejects.toThrow('aborted')
    expect(announce.mock.calls).toEqual([['The download was stopped. Nothing was saved.']])
  }
})

test.each<[number, number | undefined, saved: string[], words: string]>([
  [0, undefined, [], 'Nothing was downloaded: the list is empty.'],
  [1, undefined, ['applications.csv'], 'Downloaded 1 application.'],
  [2, 1, ['applications-of-retreat-1.csv'], 'Downloaded 2 applications.'],
])('a table of %i applications of retreat %s is saved as %j', (count, edition, saved, words) => {
  const announce = vi.spyOn(announcing, 'announce').mockReturnValue()
  const save = vi.spyOn(saving, 'saveFile').mockReturnValue()
  atTestEnd(() => void vi.restoreAllMocks())
  const file = new Blob(['a table'])
  saveTable({ file, count }, edition)
  expect(save.mock.calls).toEqual(saved.map((name) => [file, ...name.split('.')]))
  expect(announce.mock.calls).toEqual([[words]])
})
