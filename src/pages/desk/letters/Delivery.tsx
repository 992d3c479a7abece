import { Link } from 'wouter'

import type { CallDesk, LettersOverview, OutboxState } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { momentOf } from '../dates.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct } from './letters.ts'
import { outboxOf } from './places.ts'
import { inDigits } from './words.ts'

const stateWords: Record<OutboxState, (isOne: boolean) => string> = {
  waiting: (isOne) => (isOne ? 'is leaving' : 'are leaving'),
  refused: (isOne) => (isOne ? 'was refused' : 'were refused'),
  'given up': (isOne) => (isOne ? 'was given up' : 'were given up'),
}

interface DeliveryProps {
  callDesk: CallDesk
  overview: LettersOverview
}

/** Whether anybody carries letters, what keeps them, and what is under way or did not arrive. */
export function Delivery({ callDesk, overview: { postman, states } }: DeliveryProps) {
  const stop = useLetterAct(
    (stopped: boolean, signal) => callDesk('desk_stop', { stopped }, signal),
    ({ stopped }) => announce(stopped ? 'All letters are stopped.' : 'Letters leave again.'),
  )
  const shown = (Object.keys(stateWords) as OutboxState[]).filter((state) => states[state].count > 0)
  return (
    <>
      <p className={postman.stopped || postman.paused_until !== null ? 'notice error' : ''}>
        {words(postman)}
      </p>
      {postman.is_there && postman.is_automation_there && !postman.stopped && (
        <p>An automation is told of the decisions that you send.</p>
      )}
      {shown.length > 0 ? (
        <ul className="plain">
          {shown.map((state) => (
            <li key={state}>
              <Link href={outboxOf(state)}>
                {inDigits(states[state])} {stateWords[state](states[state].count === 1)}
              </Link>
            </li>
          ))}
        </ul>
      ) : (
        <p className="quietly">Nothing is leaving, and nothing failed.</p>
      )}
      {stop.error && <p role="alert">{sentenceOf(stop.error)}</p>}
      <button className="quiet" onClick={() => !stop.isPending && stop.mutate(!postman.stopped)}>
        {postman.stopped ? 'Let letters leave' : 'Stop all letters'}
      </button>
    </>
  )
}

function words({
  is_there,
  is_automation_there,
  stopped,
  paused_until,
  problem,
}: LettersOverview['postman']) {
  if (stopped) return 'All letters are stopped: nothing leaves until you let it.'
  if (!is_there && is_automation_there)
    return 'No mail leaves from here: an automation is told of the decisions that you send, and writes to applicants.'
  if (!is_there)
    return 'Nobody carries letters yet: a server that has a mail server does. Until then each letter opens in your own mail program.'
  if (paused_until !== null)
    return `The mail server keeps all letters until ${momentOf(paused_until)}: ${problem}`
  return 'Letters leave a while after they are sent, so that they can be stopped.'
}
