import { useQuery } from '@tanstack/react-query'

import type { LettersOverview, OutboxState } from '../../../client/desk.ts'
import { DraftCounts } from '../drafts/DraftCounts.tsx'
import { announce } from '../kit/announce.tsx'
import { momentOf, upTo } from '../kit/format.ts'
import { hrefOf } from '../kit/places.ts'
import { Problem } from '../kit/Problem.tsx'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useDesk, useDeskAct } from '../kit/useDesk.tsx'
import { TemplateList } from '../templates/TemplateList.tsx'
import { MailCheck } from './MailCheck.tsx'
import { ReceiptEdit } from './ReceiptEdit.tsx'
import { ReplyToEdit } from './ReplyToEdit.tsx'
import { UndoSend } from './UndoSend.tsx'

/** Letters: who waits for one, how delivery stands, and what they say. */
export function LettersShow() {
  return (
    <Screen title="Letters" query={useQuery(useDesk().letters())} head={<UndoSend />}>
      {(overview) => (
        <div className="letters columns">
          <Sheet title="Who waits for a letter">
            <DraftCounts {...overview} />
          </Sheet>
          <Sheet title="Delivery">
            <Delivery overview={overview} />
          </Sheet>
          <Sheet title="Templates">
            <TemplateList templates={overview.templates} />
          </Sheet>
          <Sheet title="Receipt">
            <ReceiptEdit overview={overview} />
          </Sheet>
          <Sheet title="Answers">
            <ReplyToEdit settings={overview.settings} />
          </Sheet>
          {overview.postman.is_there && (
            <Sheet title="Mail server">
              <MailCheck postman={overview.postman} />
            </Sheet>
          )}
        </div>
      )}
    </Screen>
  )
}

const stateWords: Record<OutboxState, (isOne: boolean) => string> = {
  waiting: (isOne) => (isOne ? 'is leaving' : 'are leaving'),
  refused: (isOne) => (isOne ? 'was refused' : 'were refused'),
  'given up': (isOne) => (isOne ? 'was given up' : 'were given up'),
}

/** Whether anybody carries letters, what keeps them, and what is under way or did not arrive. */
function Delivery({ overview: { postman, states } }: { overview: LettersOverview }) {
  const stop = useDeskAct('desk_stop', ({ stopped }) =>
    announce(stopped ? 'All letters are stopped.' : 'Letters leave again.'),
  )
  const shown = (Object.keys(stateWords) as OutboxState[]).filter((state) => states[state].count > 0)
  return (
    <>
      <p className={postman.stopped || postman.paused_until !== null ? 'notice error' : ''}>
        {wordsOf(postman)}
      </p>
      {postman.is_there && postman.is_automation_there && !postman.stopped && (
        <p>An automation is told of the decisions that you send.</p>
      )}
      {shown.length > 0 ? (
        <ul className="plain">
          {shown.map((state) => (
            <li key={state}>
              <a href={hrefOf({ screen: 'outbox', state })}>
                {upTo(states[state])} {stateWords[state](states[state].count === 1)}
              </a>
            </li>
          ))}
        </ul>
      ) : (
        <p className="quietly">Nothing is leaving, and nothing failed.</p>
      )}
      <Problem error={stop.error} />
      <button className="quiet" onClick={() => stop.press({ stopped: !postman.stopped })}>
        {postman.stopped ? 'Let letters leave' : 'Stop all letters'}
      </button>
    </>
  )
}

function wordsOf(postman: LettersOverview['postman']) {
  const { is_there: isThere, is_automation_there: isAutomationThere, paused_until: pausedUntil } = postman
  if (postman.stopped) return 'All letters are stopped: nothing leaves until you let it.'
  if (!isThere && isAutomationThere)
    return 'No mail leaves from here: an automation is told of the decisions that you send, and writes to applicants.'
  if (!isThere)
    return 'Nobody carries letters yet: a server that has a mail server does. Until then each letter opens in your own mail program.'
  if (pausedUntil !== null)
    return `The mail server keeps all letters until ${momentOf(pausedUntil)}: ${postman.problem}`
  return 'A letter leaves shortly after you send it; until then you can stop it.'
}
