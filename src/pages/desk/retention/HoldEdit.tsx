import { useRef } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { ApplicationDetails } from '../../../client/desk/applications.ts'
import { ActButton } from '../kit/ActButton.tsx'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Dialog, type DialogHandle } from '../kit/Dialog.tsx'
import { DialogForm } from '../kit/DialogForm.tsx'
import { Field } from '../kit/Field.tsx'
import { focusHeading, useOnHidden } from '../kit/focus.ts'
import { dayOf, momentOf } from '../kit/format.ts'
import { Sheet } from '../kit/Screen.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useUnsentText } from '../data/useUnsentText.ts'

interface HoldEditProps {
  details: Pick<ApplicationDetails, 'application' | 'erased_on' | 'hold'>
  name: string
}

/** The reason why an organiser keeps an application, or else the day on which its erasing is due; nothing if there is neither. */
export function HoldEdit({ details, name }: HoldEditProps) {
  const { application, erased_on: erasedOn, hold } = details
  const act = useDeskAct('desk_hold', {
    success: (_details, { reason }) => `${name}: ${reason === '' ? 'kept no longer' : 'kept'}`,
    failure: 'Not saved.',
    onSuccess() {
      dialog.current?.close()
      setTyped(null)
    },
  })
  const dialog = useRef<DialogHandle>(null)
  const [typed, setTyped] = useUnsentText<string>(`keep ${application.id}`)
  const isHeld = Boolean(hold)
  // The pressed button disappears.
  useOnHidden(isHeld, focusHeading)
  useOnHidden(!isHeld, focusHeading)
  if (!hold && !erasedOn) return null
  const press = (reason: string) => act.press({ application: application.id, reason })
  return (
    <Sheet title="How long it is kept">
      {hold ? (
        <>
          <p>
            Kept until you erase it: <bdi>{hold.reason ?? 'the reason is hidden while you read blind'}</bdi>{' '}
            <span className="layout-quiet">
              {hold.held_by}, {momentOf(hold.held_at)}
            </span>
          </p>
          <ActButton isPending={act.isPending} onPress={() => press('')}>
            Stop keeping
          </ActButton>
        </>
      ) : (
        <>
          <p>It is due to be erased on {dayOf(erasedOn ?? '')}, as organisers set for all applications.</p>
          <Dialog ref={dialog} button="Keep" title="Keep this application" onClose={act.cancel}>
            <DialogForm act="Keep it" isPending={act.isPending} onSend={() => press((typed ?? '').trim())}>
              <p>It is then only erased if you erase it yourself.</p>
              <Field
                label="Reason"
                hint="Such as “Comes again next year”. Other organisers see it."
                autoComplete="off"
                required
                pattern=".*\S.*"
                maxLength={maxCharacters.hold}
                value={typed ?? ''}
                onText={setTyped}
              />
              <ActProblems acts={[act]} />
            </DialogForm>
          </Dialog>
        </>
      )}
      {hold && <ActProblems acts={[act]} />}
    </Sheet>
  )
}
