import { useRef, useState } from 'react'

import type { ApplicationDetails } from '../../../client/desk/applications.ts'
import { letterTextName } from '../letters/LetterCreate.tsx'
import { Dialog, type DialogHandle } from '../kit/Dialog.tsx'
import { DialogForm } from '../kit/DialogForm.tsx'
import { Field, Tick } from '../kit/Field.tsx'
import { momentOf, nameOf, shortOf } from '../kit/format.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { useSetUnsentText } from '../data/useUnsentText.ts'
import { noteTextName } from './ApplicationTimeline.tsx'

/**
 * A dialog that permanently erases an application, and optionally others of the same email. The email has to be typed to confirm.
 */
export function ApplicationErase({
  details,
  onErased,
}: {
  details: ApplicationDetails
  onErased: () => void
}) {
  const { application, others } = details
  const { id, email } = application
  const dialog = useRef<DialogHandle>(null)
  const setUnsent = useSetUnsentText()
  const [typed, setTyped] = useState('')
  const [otherIds, setOtherIds] = useState<readonly string[]>([])
  const erase = useDeskAct('desk_erase', {
    success: ({ erased }) => `${nameOf(application)}: ${wordsOf(erased)}`,
    failure: 'Not erased.',
    onSuccess() {
      dialog.current?.close()
      for (const each of [id, ...otherIds])
        for (const name of [noteTextName(each), letterTextName(each)]) setUnsent(name, null)
      onErased()
    },
  })
  return (
    <section className="application-erase">
      <Dialog
        ref={dialog}
        button="Erase"
        title="Erase this application for good?"
        onOpen={() => {
          setTyped('')
          setOtherIds([])
        }}
        onClose={erase.cancel}
      >
        <p>
          This deletes the answers, status, notes, letters and history, and cannot be undone. The history
          still says that an application was erased, and by whom. Earlier backups have it until they are
          removed. Connected systems keep their copies: erase it there, too.
        </p>
        {email === undefined ? (
          <p>Reveal the application first: you confirm by typing its email.</p>
        ) : (
          <DialogForm
            act="Erase for good"
            isPending={erase.isPending}
            isDanger
            onSend={() => erase.press({ applications: [id, ...otherIds], email: typed })}
          >
            {others.length > 0 && (
              <fieldset>
                <legend>Also erase these with the same email</legend>
                {others.map((other) => (
                  <Tick
                    key={other.id}
                    isOn={otherIds.includes(other.id)}
                    onTick={(isOn) =>
                      setOtherIds(
                        isOn ? [...otherIds, other.id] : otherIds.filter((each) => each !== other.id),
                      )
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
            <ActProblems acts={[erase]} />
          </DialogForm>
        )}
      </Dialog>
    </section>
  )
}

function wordsOf(erased: number) {
  if (erased === 0) return 'had been erased already'
  return erased === 1 ? 'erased' : `erased, ${erased} applications`
}
