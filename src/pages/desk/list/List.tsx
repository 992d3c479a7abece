import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'

import { pageSize } from '../../../application/limits.ts'
import { statuses } from '../../../application/statuses.ts'
import type { CallDesk, Listed } from '../../../client/desk.ts'
import { momentOf } from '../dates.ts'
import { focusApplication, focusHeading } from '../focus.ts'
import { decisions, DecisionBar } from '../judging/DecisionBar.tsx'
import { useJudge } from '../judging/JudgeProvider.tsx'
import { countStatuses, type Seen } from '../judging/judge.ts'
import { useIsPhone } from '../judging/phone.ts'
import { Problems } from '../judging/Problems.tsx'
import { useKeys } from '../keys/keys.ts'
import { WriteMany } from '../letters/WriteMany.tsx'
import { sentenceOf } from '../messages.ts'
import { listKey, useApplications, useMeanwhile } from './applications.ts'
import { addressOf, filterOf, type Asked } from './asked.ts'
import { nameOf } from './names.ts'
import { Table } from './Table.tsx'

interface ListProps {
  callDesk: CallDesk
  asked: Asked
  /** When the applications were counted last. */
  countedAt: number
}

/** One list: read anew whenever somebody comes to it; its rows stay where they are for as long as it is looked at. */
export function List({ callDesk, asked, countedAt }: ListProps) {
  const filter = filterOf(asked)
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useApplications(
    callDesk,
    filter,
    'shown',
  )
  // What was ticked, by the version that was shown: what changes after that is not meant any more.
  const [ticked, setTicked] = useState<ReadonlyMap<string, number>>(new Map())
  const [current, setCurrent] = useState<string | null>(null)
  const queries = useQueryClient()
  const [, navigate] = useLocation()
  const { judge } = useJudge()
  const rows = data?.pages.flatMap(({ applications }) => applications)
  const { gone, newer, older, more, letters } = useMeanwhile(callDesk, filter, data?.pages, countedAt)

  const selected = new Set(
    rows
      ?.filter((row) => !gone.has(row.id) && ticked.get(row.id) === judge.shownOf(row).version)
      .map(({ id }) => id),
  )
  const seen = (rows ?? [])
    .filter(({ id }) => (ticked.size > 0 ? selected.has(id) : id === current && !gone.has(id)))
    .map(seenOf)
  // Who stands elsewhere by now is on the screen to be seen, and is not meant by whoever takes the whole list.
  const ofThisList = (rows ?? []).filter(
    (row) => !gone.has(row.id) && ['all', judge.shownOf(row).status].includes(asked.status),
  )
  // There it would lie over the list for whoever was opened last.
  const isBarFree = useIsPhone() && ticked.size === 0
  const move = (step: 1 | -1) => {
    const place = rows?.findIndex(({ id }) => id === current) ?? -1
    const next = rows?.[place === -1 ? 0 : Math.min(Math.max(place + step, 0), rows.length - 1)]
    if (next) focusApplication(next.id)
  }
  const select = (all: readonly Listed[], isOn: boolean) => {
    const now = new Map([...ticked].filter(([id]) => selected.has(id)))
    for (const row of all) {
      if (isOn) now.set(row.id, judge.shownOf(row).version)
      else now.delete(row.id)
    }
    setTicked(now)
  }
  const selectNone = () => setTicked(new Map())
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => current !== null && navigate(addressOf(asked, current)),
    x: () =>
      select(rows?.filter(({ id }) => id === current && !gone.has(id)) ?? [], !selected.has(current ?? '')),
    z: () => judge.undo(),
    Escape: selectNone,
    ...Object.fromEntries(
      decisions.map(({ key, status }) => [
        key,
        () => {
          judge.decide(seen, status)
          selectNone()
        },
      ]),
    ),
  })

  // What has the focus may be gone when the list is read anew: then what took its place has it.
  const place = rows?.findIndex(({ id }) => id === current) ?? -1
  const lastPlace = useRef(-1)
  useEffect(() => {
    if (place !== -1) lastPlace.current = place
    else if (lastPlace.current !== -1 && rows !== undefined && document.activeElement === document.body) {
      focusApplication(rows[Math.min(lastPlace.current, rows.length - 1)]?.id)
      lastPlace.current = -1
    }
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
              checked={ofThisList.length > 0 && ofThisList.every(({ id }) => selected.has(id))}
              onChange={({ target }) => (target.checked ? select(ofThisList, true) : selectNone())}
            />
            Select all shown
          </label>
        )}
        {newer + older > 0 && (
          <button
            className="news"
            onClick={() => {
              selectNone()
              focusHeading()
              void queries.resetQueries({ queryKey: listKey(filter) })
              void queries.invalidateQueries({ queryKey: ['overview'] })
            }}
          >
            {[
              { count: newer, word: 'new' },
              { count: older, word: 'more' },
            ]
              .filter(({ count }) => count > 0)
              .map(({ count, word }) => `${count}${more ? '+' : ''} ${word}`)
              .join(', ')}
          </button>
        )}
      </div>
      <Problems />
      {rows.length > 0 && (
        <Table
          {...{ rows, letters, asked, selected, current, gone }}
          onSelect={(row, isOn) => select([row], isOn)}
          onCurrent={setCurrent}
        />
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
          {oldest && (data?.pages.at(-1)?.applications.length ?? 0) < pageSize && (
            <span className="quietly">
              Looked through as far back as {momentOf(oldest.created_at)}. Narrow it, or look further with
              More.
            </span>
          )}
        </p>
      )}
      <DecisionBar
        seen={isBarFree ? [] : seen}
        about={aboutOf(seen, ticked.size - selected.size)}
        onDecided={selectNone}
      >
        <WriteMany callDesk={callDesk} seen={seen} />
      </DecisionBar>
    </>
  )

  /** Whom the bar is about: the name of one, the number of several, and what may be a surprise among them. */
  function aboutOf(chosen: readonly Seen[], unticked: number) {
    const elsewhere = countStatuses(
      chosen
        .map((each) => judge.shownOf(each).status)
        .filter((status) => !['all', status].includes(asked.status)),
    )
    const [only] = chosen
    const remarks = [
      ...elsewhere.map(({ status, count }) => `${count} ${statuses[status]}`),
      ...(unticked > 0 ? [`${unticked} changed meanwhile and left out`] : []),
    ]
    if (only !== undefined && chosen.length === 1 && unticked === 0) return only.name
    return [`${chosen.length} selected`, ...remarks].join(', ')
  }
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
