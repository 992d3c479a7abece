import { maxCharacters } from '../../../application/limits.ts'
import type { ApplicationDetails } from '../../../client/desk/applications.ts'
import { Button } from '../kit/Button.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Dialog } from '../kit/Dialog.tsx'
import { DialogForm } from '../kit/DialogForm.tsx'
import { Field } from '../kit/Field.tsx'
import { dayOf, momentOf } from '../kit/format.ts'
import { Sheet } from '../kit/Screen.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'

interface HoldEditProps {
  details: Pick<ApplicationDetails, 'application' | 'erased_on' | 'hold'>
  name: string
}

/** The reason why an organiser keeps an application, or else the day on which its erasing is due; nothing if there is neither. */
export function HoldEdit({ details, name }: HoldEditProps) {
  const { application, erased_on: erasedOn, hold } = details
  const { isReader } = useDesk()
  const end = useHold(name)
  if (!hold && !erasedOn) return null
  return (
    <Sheet title="How long it is kept">
      {hold ? (
        <>
          <p>
            Kept until you erase it:{' '}
            <bdi>{hold.reason ?? 'the reason is hidden while blind reading is on'}</bdi>{' '}
            <span className="layout-quiet">
              {hold.held_by}, {momentOf(hold.held_at)}
            </span>
          </p>
          {!isReader && (
            <Button
              isPending={end.isPending}
              onPress={() => end.press({ application: application.id, reason: '' })}
            >
              Remove hold
            </Button>
          )}
          <ActProblems acts={[end]} />
        </>
      ) : (
        <>
          <p>It is due to be erased on {dayOf(erasedOn ?? '')}, as organisers set for all applications.</p>
          {!isReader && (
            <Dialog button="Keep">
              {(close) => <HoldForm application={application.id} name={name} close={close} />}
            </Dialog>
          )}
        </>
      )}
    </Sheet>
  )
}

const useHold = (name: string, options: { text?: string; onSuccess?: () => void } = {}) =>
  useDeskAct('desk_hold', {
    success: (_details, { reason }) => `${name}: ${reason === '' ? 'hold removed' : 'kept'}`,
    ...options,
  })

function HoldForm({ application, name, close }: { application: string; name: string; close: () => void }) {
  const text = `keep ${application}`
  const [typed, setTyped] = useUnsentText<string>(text)
  const hold = useHold(name, { text, onSuccess: close })
  const reason = typed ?? ''
  return (
    <DialogForm
      title="Keep this application"
      button="Keep it"
      act={hold}
      close={close}
      onSend={() => hold.press({ application, reason: reason.trim() })}
    >
      <p>It is then only erased if you erase it yourself.</p>
      <Field
        label="Reason"
        hint="Such as “Wants to apply again next year”. Other organisers see it."
        autoComplete="off"
        required
        pattern=".*\S.*"
        maxLength={maxCharacters.hold}
        value={reason}
        onText={setTyped}
      />
    </DialogForm>
  )
}
