import type { CallDesk } from '../../../client/desk.ts'
import { sentenceOf } from '../messages.ts'
import { useDoor } from './door.ts'
import { DoorForm } from './DoorForm.tsx'
import { DoorHistory } from './DoorHistory.tsx'
import { doorSentence } from './door-words.ts'
import { useTitle } from '../title.ts'

/** Whether applications are taken: how it stands, changing it, and what happened. */
export function DoorScreen({ callDesk }: { callDesk: CallDesk }) {
  const { data: door, dataUpdatedAt, error } = useDoor(callDesk)
  useTitle('Door')
  return (
    <>
      <h1 tabIndex={-1}>Door</h1>
      {error && (
        <p className="notice error" role="alert">
          {door && 'This may no longer be how it stands. '}
          {sentenceOf(error)}
        </p>
      )}
      {!door && !error && <p>Looking at the door…</p>}
      {door && (
        <div className="door columns">
          <section className="sheet" aria-label="How it stands">
            <p className={`standing ${door.is_open ? 'open' : 'closed'}`}>{doorSentence(door)}</p>
            <DoorForm callDesk={callDesk} door={door} now={dataUpdatedAt} />
          </section>
          <section className="sheet" aria-labelledby="happened">
            <h2 id="happened">What happened</h2>
            <DoorHistory history={door.history} />
          </section>
        </div>
      )}
    </>
  )
}
