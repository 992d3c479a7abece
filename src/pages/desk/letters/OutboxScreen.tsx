import { Link } from 'wouter'

import type { CallDesk, OutboxState } from '../../../client/desk.ts'
import { beginAt } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { LeavingBars } from './LeavingBars.tsx'
import { useOutbox } from './letters.ts'
import { MoreButton } from './MoreButton.tsx'
import { OutboxLetter } from './OutboxLetter.tsx'
import { useTitle } from '../title.ts'

const titles: Record<OutboxState, string> = {
  waiting: 'Letters that are leaving',
  refused: 'Letters that were refused',
  'given up': 'Letters that were given up',
}

/** The letters that did not leave yet, or did not arrive. */
export function OutboxScreen({ callDesk, state }: { callDesk: CallDesk; state: OutboxState }) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = useOutbox(callDesk, state)
  useTitle(titles[state])
  const letters = data?.pages.flatMap((page) => page.letters)
  return (
    <>
      <nav className="row application-nav" aria-label="In the letters">
        <Link href="/letters" className="button">
          Back
        </Link>
      </nav>
      <h1 ref={beginAt} tabIndex={-1}>
        {titles[state]}
      </h1>
      <LeavingBars callDesk={callDesk} />
      {error && (
        <p className="notice error" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      {!letters && !error && <p aria-busy="true">Loading…</p>}
      {letters?.length === 0 && <p>No letters here.</p>}
      {letters && letters.length > 0 && (
        <ul className="plain sheet outbox">
          {letters.map((letter) => (
            <OutboxLetter key={letter.id} callDesk={callDesk} letter={letter} />
          ))}
        </ul>
      )}
      {hasNextPage && <MoreButton isUnderWay={isFetchingNextPage} onPress={() => void fetchNextPage()} />}
    </>
  )
}

/** The state that an address names. */
export function outboxStateOf(name: string): OutboxState {
  return name in titles ? (name as OutboxState) : 'waiting'
}
