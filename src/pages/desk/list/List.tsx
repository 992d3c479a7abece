import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { useLocation } from 'wouter'

import type { CallDesk, Listed } from '../../../client/desk.ts'
import { momentOf } from '../dates.ts'
import { focusApplication, focusHeading } from '../focus.ts'
import { decisions, DecisionBar } from '../judging/DecisionBar.tsx'
import { useJudge } from '../judging/JudgeProvider.tsx'
import type { Seen } from '../judging/judge.ts'
import { Problems } from '../judging/Problems.tsx'
import { useKeys } from '../keys/keys.ts'
import { useLetterStates } from '../letters/letters.ts'
import { WriteMany } from '../letters/WriteMany.tsx'
import { sentenceOf } from '../messages.ts'
import { useApplications, useNews } from './applications.ts'
import { addressOf, filterOf, type Asked } from './asked.ts'
import { nameOf } from './names.ts'
import { Table } from './Table.tsx'

interface ListProps {
  callDesk: CallDesk
  asked: Asked
  /** What else can be done with the whole list. */
  children: ReactNode
}

/** One list: its rows stay where they are until it is asked for anew. */
export function List({ callDesk, asked, children }: ListProps) {
  const filter = filterOf(asked)
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useApplications(
    callDesk,
    filter,
  )
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [current, setCurrent] = useState<string | null>(null)
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const { judge } = useJudge()
  const rows = data?.pages.flatMap(({ applications }) => applications)
  const letters = useLetterStates(callDesk, rows?.map(({ id }) => id) ?? [])
  const news = useNews(callDesk, filter, rows?.[0] ?? null, rows !== undefined)

  const chosen = rows?.filter(({ id }) => (selected.size > 0 ? selected.has(id) : id === current)) ?? []
  const seen = chosen.map(seenOf)
  const move = (step: 1 | -1) => {
    const place = rows?.findIndex(({ id }) => id === current) ?? -1
    const next = rows?.[place === -1 ? 0 : Math.min(Math.max(place + step, 0), rows.length - 1)]
    if (next) focusApplication(next.id)
  }
  const select = (ids: readonly string[], isOn: boolean) => {
    setSelected(new Set([...selected].filter((id) => !ids.includes(id)).concat(isOn ? ids : [])))
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => current !== null && navigate(addressOf(asked, current)),
    x: () => current !== null && select([current], !selected.has(current)),
    z: () => judge.undo(),
    Escape: () => setSelected(new Set()),
    ...Object.fromEntries(decisions.map(({ key, status }) => [key, () => judge.decide(seen, status)])),
  })

  // The focus goes on to what came: the button may be gone then.
  const first = useRef<number | null>(null)
  useEffect(() => {
    const row = first.current === null ? undefined : rows?.[first.current]
    if (row === undefined) return
    first.current = null
    if (document.activeElement?.matches('body, .more')) focusApplication(row.id)
  })
  const readOn = () => {
    if (isFetchingNextPage) return
    first.current = rows?.length ?? null
    void fetchNextPage()
  }

  if (rows === undefined) {
    return error ? <Failure error={error} onRetry={() => void refetch()} /> : <p aria-busy="true">Loading…</p>
  }
  const oldest = data?.pages.at(-1)?.next
  return (
    <>
      <div className="row list-head">
        {rows.length > 0 && (
          <label className="tick">
            <input
              type="checkbox"
              checked={rows.every(({ id }) => selected.has(id))}
              onChange={({ target }) => setSelected(new Set(target.checked ? rows.map(({ id }) => id) : []))}
            />
            Select all shown
          </label>
        )}
        {children}
        {news.count > 0 && (
          <button
            className="news"
            onClick={() => {
              setSelected(new Set())
              focusHeading()
              void queries.resetQueries({ queryKey: ['list', filter] })
              void queries.invalidateQueries({ queryKey: ['overview'] })
            }}
          >
            {`${news.count}${news.more ? '+' : ''} new`}
          </button>
        )}
      </div>
      <Problems />
      {rows.length > 0 && (
        <Table {...{ rows, letters, asked, selected, current }} onSelect={select} onCurrent={setCurrent} />
      )}
      {rows.length === 0 && !hasNextPage && (
        <p>{asked.search === '' ? 'No applications here.' : 'Nothing was found.'}</p>
      )}
      {error && <Failure error={error} onRetry={() => void fetchNextPage()} />}
      {hasNextPage && !error && (
        <p className="row">
          <button className="quiet more" aria-disabled={isFetchingNextPage} onClick={readOn}>
            More
          </button>
          {oldest && (data?.pages.at(-1)?.applications.length ?? 0) < 50 && (
            <span className="quietly">
              Looked through as far back as {momentOf(oldest.created_at)}. Narrow it, or look further with
              More.
            </span>
          )}
        </p>
      )}
      <DecisionBar seen={seen} about={seen.length === 1 ? (seen[0]?.name ?? '') : `${seen.length} selected`}>
        <WriteMany callDesk={callDesk} seen={seen} />
      </DecisionBar>
    </>
  )
}

function Failure({ error, onRetry }: { error: Error; onRetry: () => void }) {
  return (
    <div role="alert" className="notice error">
      <p>{sentenceOf(error)}</p>
      <button className="quiet" onClick={onRetry}>
        Try again
      </button>
    </div>
  )
}

function seenOf(row: Listed): Seen {
  return { id: row.id, name: nameOf(row), status: row.status, version: row.version }
}
