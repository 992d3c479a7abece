import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { Link, useLocation, useSearch } from 'wouter'

import { newAct } from '../../../client/act.ts'
import type { CallDesk } from '../../../client/desk.ts'
import { useAct } from '../acts.ts'
import { beginAt, focusHeading } from '../focus.ts'
import { decisions, DecisionBar } from '../judging/DecisionBar.tsx'
import { useJudge } from '../judging/JudgeProvider.tsx'
import type { Seen } from '../judging/judge.ts'
import { Problems } from '../judging/Problems.tsx'
import { StatusPill } from '../judging/StatusPill.tsx'
import { useKeys } from '../keys/keys.ts'
import { WriteLetter } from '../letters/WriteLetter.tsx'
import { addressOf, askedFrom, filterOf } from '../list/asked.ts'
import { nameOf } from '../list/names.ts'
import { sentenceOf } from '../messages.ts'
import { Answers } from './Answers.tsx'
import { EraseDialog } from './EraseDialog.tsx'
import { learnPlace, useNeighbours } from './neighbours.ts'
import { NoteForm } from './NoteForm.tsx'
import { Others } from './Others.tsx'
import { Timeline } from './Timeline.tsx'
import { useTitle } from '../title.ts'

/** One application: what was answered, what happened to it, and the buttons to decide with. */
export function ApplicationScreen({ id, callDesk }: { id: string; callDesk: CallDesk }) {
  const asked = askedFrom(useSearch())
  const [, navigate] = useLocation()
  const { judge } = useJudge()
  const queries = useQueryClient()
  const note = useRef<HTMLTextAreaElement>(null)
  const filter = filterOf(asked)
  const { previous, next, words } = useNeighbours(callDesk, filter, id)
  const queryKey = ['application', id, filter]
  const { data, error } = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const whole = await callDesk('desk_application', { application: id, filter }, signal)
      judge.learn(whole.application)
      learnPlace(queries, filter, id, whole.place)
      return whole
    },
    refetchOnWindowFocus: 'always',
  })
  // Asked for again after a failure it is the same act.
  const [act] = useState(newAct)
  // What was asked for stays in sight until the screen is left, and is kept nowhere then.
  const readAll = (_given: void, signal: AbortSignal) =>
    callDesk('desk_reveal', { act, application: id }, signal)
  const reveal = useAct(readAll, {
    onSuccess: () => void queries.invalidateQueries({ queryKey }),
  })
  const { data: revealed } = reveal
  useEffect(() => {
    // The button that was pressed went.
    if (revealed && document.activeElement === document.body) focusHeading()
  }, [revealed])

  const whole =
    data && revealed
      ? { ...data, application: { ...revealed.application, ...data.application }, others: revealed.others }
      : data
  useTitle(whole ? nameOf(whole.application) : 'Application')
  const seen: Seen[] = whole ? [{ ...whole.application, name: nameOf(whole.application) }] : []
  const list = addressOf(asked)
  const open = (other: string | undefined) => other !== undefined && navigate(addressOf(asked, other))
  useKeys({
    j: () => open(next),
    k: () => open(previous),
    n: () => note.current?.focus(),
    z: () => judge.undo(),
    '/': () => {
      flushSync(() => navigate(list))
      document.getElementById('search')?.focus()
    },
    Escape: () => navigate(list),
    ...Object.fromEntries(decisions.map(({ key, status }) => [key, () => judge.decide(seen, status)])),
  })

  return (
    <>
      <nav className="row application-nav" aria-label="In the list">
        <Link href={list} className="button">
          Back
        </Link>
        <span className="quietly">{words}</span>
        <Neighbour address={previous && addressOf(asked, previous)} label="Previous" />
        <Neighbour address={next && addressOf(asked, next)} label="Next" />
      </nav>
      {whole === undefined ? (
        <Missing error={error} />
      ) : (
        <>
          <header className="row application-head">
            <h1 ref={beginAt} tabIndex={-1}>
              <bdi>{nameOf(whole.application)}</bdi>
            </h1>
            <StatusPill seen={whole.application} />
          </header>
          <Problems />
          {error && <p role="alert">{sentenceOf(error)}</p>}
          <div className="application">
            <section className="sheet" aria-label="Answers">
              <Answers
                application={whole.application}
                onReveal={() => !reveal.isPending && reveal.mutate()}
              />
              {reveal.error && <p role="alert">{sentenceOf(reveal.error)}</p>}
            </section>
            <section className="sheet" aria-labelledby="timeline">
              <h2 id="timeline">What happened</h2>
              <Timeline whole={whole} letters={whole.letters} />
              <NoteForm id={id} callDesk={callDesk} field={note} history={whole.history} />
              <WriteLetter
                callDesk={callDesk}
                application={id}
                status={judge.shownOf(whole.application).status}
              />
            </section>
            <Others asked={asked} others={whole.others} />
            <EraseDialog callDesk={callDesk} whole={whole} onErased={() => navigate(list)} />
          </div>
        </>
      )}
      <DecisionBar seen={seen} about={seen[0]?.name ?? ''} />
    </>
  )
}

function Missing({ error }: { error: Error | null }) {
  return error ? (
    <>
      <h1 ref={beginAt} tabIndex={-1}>
        Application
      </h1>
      <p role="alert">{sentenceOf(error)}</p>
    </>
  ) : (
    <p aria-busy="true">Loading…</p>
  )
}

function Neighbour({ address, label }: { address: string | undefined; label: string }) {
  return address === undefined ? (
    <span className="button" aria-disabled="true">
      {label}
    </span>
  ) : (
    <Link href={address} className="button">
      {label}
    </Link>
  )
}
