import type { CallDesk } from '../../../client/desk.ts'
import { beginAt } from '../focus.ts'
import { sentenceOf } from '../messages.ts'
import { Delivery } from './Delivery.tsx'
import { Hearing } from './Hearing.tsx'
import { LeavingBars } from './LeavingBars.tsx'
import { useLetters } from './letters.ts'
import { NewTemplate } from './NewTemplate.tsx'
import { ReceiptSwitch } from './ReceiptSwitch.tsx'
import { ReplyToForm } from './ReplyToForm.tsx'
import { TemplateList } from './TemplateList.tsx'
import { WhoWaits } from './WhoWaits.tsx'
import { useTitle } from '../title.ts'

/** Letters: who waits for one, how delivery stands, and what they say. */
export function LettersScreen({ callDesk }: { callDesk: CallDesk }) {
  const { data: overview, error } = useLetters(callDesk)
  useTitle('Letters')
  return (
    <>
      <h1 ref={beginAt} tabIndex={-1}>
        Letters
      </h1>
      <LeavingBars callDesk={callDesk} />
      {error && (
        <p className="notice error" role="alert">
          {overview && 'This may no longer be how it stands. '}
          {sentenceOf(error)}
        </p>
      )}
      {!overview && !error && <p aria-busy="true">Loading…</p>}
      {overview && (
        <div className="letters columns">
          <section className="sheet" aria-labelledby="who-waits">
            <h2 id="who-waits">Who waits for a letter</h2>
            <WhoWaits templates={overview.templates} />
          </section>
          <section className="sheet" aria-labelledby="delivery">
            <h2 id="delivery">Delivery</h2>
            <Delivery callDesk={callDesk} overview={overview} />
          </section>
          <section className="sheet" aria-labelledby="templates">
            <h2 id="templates">Templates</h2>
            <TemplateList templates={overview.templates} />
            <NewTemplate templates={overview.templates} />
          </section>
          <section className="sheet" aria-labelledby="hearing">
            <h2 id="hearing">Hearing of applications</h2>
            <Hearing callDesk={callDesk} postman={overview.postman} />
          </section>
          <section className="sheet" aria-labelledby="receipt">
            <h2 id="receipt">Receipt</h2>
            <ReceiptSwitch callDesk={callDesk} overview={overview} />
          </section>
          <section className="sheet" aria-labelledby="answers">
            <h2 id="answers">Answers</h2>
            <ReplyToForm callDesk={callDesk} settings={overview.settings} />
          </section>
        </div>
      )}
    </>
  )
}
