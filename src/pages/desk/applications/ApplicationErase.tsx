import { useState, type ReactNode } from 'react'

import type { ApplicationDetails } from '../../../client/desk/applications.ts'
import { Dialog, DialogContent } from '../kit/Dialog.tsx'
import { DialogForm } from '../kit/DialogForm.tsx'
import { Field } from '../kit/Field.tsx'
import { Tick } from '../kit/Tick.tsx'
import { nameOf } from '../data/names.ts'
import { momentOf, shortOf } from '../kit/format.ts'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useDesk } from '../data/useDesk.tsx'
import { forgetUnsentTextAbout } from '../data/useUnsentText.ts'

interface ApplicationEraseProps {
  details: ApplicationDetails
  onErased: () => void
}

/**
 * A dialog that permanently erases an application, and optionally others of the same email. The email has to be typed to confirm.
 */
export function ApplicationErase(props: ApplicationEraseProps) {
  return (
    <section className="application-erase">
      <Dialog button="Erase">{(close) => <EraseContent {...props} close={close} />}</Dialog>
    </section>
  )
}

function EraseContent(props: ApplicationEraseProps & { close: () => void }) {
  const { details, close } = props
  const { email } = details.application
  const title = 'Erase this application for good?'
  const effects = (
    <p>
      This erases the answers, status, notes, letters and history, and cannot be undone. The history still
      says that an application was erased, and by whom. Earlier backups have it until they are removed.
      Connected systems keep their copies: erase it there, too.
    </p>
  )
  if (email !== undefined) return <EraseForm {...props} {...{ title, email, effects }} />
  return (
    <DialogContent title={title} close={close} closeWords="Cancel">
      {effects}
      <p>Reveal the application first: you confirm by typing its email.</p>
    </DialogContent>
  )
}

interface EraseFormProps extends ApplicationEraseProps {
  title: string
  email: string
  effects: ReactNode
  close: () => void
}

function EraseForm({ details, onErased, title, email, effects, close }: EraseFormProps) {
  const { application, others } = details
  const { id } = application
  const { account } = useDesk()
  const [typed, setTyped] = useState('')
  const [otherIds, setOtherIds] = useState<readonly string[]>([])
  const erase = useDeskAct('desk_erase', {
    success: ({ erased }) => `${nameOf(application)}: ${wordsOf(erased)}`,
    onSaved(_erased, { applications }) {
      for (const each of applications) forgetUnsentTextAbout(account, each)
    },
    onSuccess() {
      close()
      onErased()
    },
  })
  return (
    <DialogForm
      {...{ title, close }}
      button="Erase for good"
      act={erase}
      isDanger
      onSend={() => erase.press({ applications: [id, ...otherIds], email: typed })}
    >
      {effects}
      {others.length > 0 && (
        <fieldset>
          <legend>Also erase these with the same email</legend>
          {others.map((other) => (
            <Tick
              key={other.id}
              isOn={otherIds.includes(other.id)}
              onTick={(isOn) =>
                setOtherIds(isOn ? [...otherIds, other.id] : otherIds.filter((each) => each !== other.id))
              }
            >
              <bdi>{shortOf(other.company)}</bdi>, {momentOf(other.created_at)}
            </Tick>
          ))}
        </fieldset>
      )}
      <Field
        label={
          <>
            Type the email, <bdi>{email}</bdi>
          </>
        }
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={typed}
        onText={setTyped}
      />
    </DialogForm>
  )
}

function wordsOf(erased: number) {
  if (erased === 0) return 'had been erased already'
  return erased === 1 ? 'erased' : `erased, ${erased} applications`
}
