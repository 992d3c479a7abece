import { privateDays } from '../../../application/limits.ts'
import { Confirmation, Dialog } from '../kit/Dialog.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Field } from '../kit/Field.tsx'
import { countOf, dayOf } from '../kit/format.ts'
import { hrefOf } from '../data/route.ts'
import { useDeskAct } from '../data/useDeskAct.ts'
import { dayAfter } from './questions.ts'

interface PrivateDaysEditProps {
  /** The number of days as it is entered. */
  days: string
  /** The last day of the retreat; null if it is not set, undefined until it is known. */
  endsOn: string | null | undefined
  /** The number of the retreat; undefined means the newest. */
  edition: number | undefined
  onDays: (days: string) => void
}

/** The field for the number of days from the retreat to the erasure of private answers, and the day that results. */
export function PrivateDaysEdit({ days, endsOn, edition, onDays }: PrivateDaysEditProps) {
  const count = Number(days)
  const isValid = Number.isInteger(count) && count >= 1 && count <= privateDays.max
  return (
    <>
      <Field
        label="Erase private answers this many days after the retreat"
        hint={`They are erased for good, and a restored backup erases them again. ${privateDays.offered} days unless you choose another number.`}
        type="number"
        inputMode="numeric"
        required
        min={1}
        max={privateDays.max}
        value={days}
        onText={onDays}
      />
      <p aria-live="polite" className="questions-erasure">
        {endsOn && isValid && `Private answers are erased on ${dayOf(dayAfter(endsOn, count))}.`}
        {endsOn === null && (
          <>
            Set the <a href={hrefOf({ screen: 'retreat', edition })}>days of the retreat</a>: until then
            nothing is erased.
          </>
        )}
      </p>
    </>
  )
}

/** The number of private answers that are due to be erased, and the button that erases them. */
export function DueAnswers({ due }: { due: number }) {
  const erase = useDeskAct('desk_erase_answers', {
    // None are left for a retry after a lost response.
    success: ({ erased }) => `${countOf(erased || due, 'private answer')} erased.`,
  })
  if (due === 0) return null
  return (
    <section className="layout-notice error" aria-label="Private answers">
      <p>
        {countOf(due, 'private answer')} {due === 1 ? 'is' : 'are'} due to be erased.
      </p>
      <div className="layout-row">
        <Dialog button="Erase them now" isPending={erase.isPending}>
          {(close) => (
            <Confirmation
              title={`Erase ${countOf(due, 'private answer')} for good?`}
              close={close}
              closeWords="Keep"
              confirm="Erase for good"
              onConfirm={() => erase.press({})}
            >
              <p>The other answers are kept.</p>
            </Confirmation>
          )}
        </Dialog>
      </div>
      <ActProblems acts={[erase]} />
    </section>
  )
}
