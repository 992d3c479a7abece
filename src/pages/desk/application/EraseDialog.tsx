import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'

import { newAct } from '../../../client/act.ts'
import type { CallDesk, Whole } from '../../../client/desk.ts'
import { useAct } from '../acts.ts'
import { announce } from '../announcement.ts'
import { momentOf } from '../dates.ts'
import { nameOf } from '../list/names.ts'
import { sentenceOf } from '../messages.ts'
import { shortOf } from '../pieces.ts'
import { useTyping } from '../typed.ts'
import { typedInto } from './NoteForm.tsx'

interface EraseDialogProps {
  callDesk: CallDesk
  whole: Whole
  onErased: () => void
}

/** Erases an application for good, and others of the same e-mail, once the e-mail was typed. */
export function EraseDialog({ callDesk, whole: { application, others }, onErased }: EraseDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const queries = useQueryClient()
  const type = useTyping()
  const [typed, setTyped] = useState('')
  // Asked for again after a failure it is the same act; more or fewer applications are another one.
  const [{ act, also }, setAlso] = useState<{ act: string; also: readonly string[] }>({ act: '', also: [] })
  const [isWrong, setIsWrong] = useState(false)
  const { email } = application
  const erase = (_given: void, signal: AbortSignal) =>
    callDesk('desk_erase', { act, applications: [application.id, ...also], email: typed }, signal)
  const { mutate, isPending, error, cancel } = useAct(erase, {
    onSuccess: ({ erased }) => {
      dialog.current?.close()
      for (const id of [application.id, ...also]) type(typedInto(id), null)
      queries.removeQueries({ queryKey: ['application', application.id] })
      queries.removeQueries({ queryKey: ['list'] })
      void queries.invalidateQueries({ queryKey: ['overview'] })
      void queries.invalidateQueries({ queryKey: ['letters'] })
      announce(`${nameOf(application)}: ${wordsOf(erased)}`)
      onErased()
    },
    onSettled: (answer) =>
      answer === undefined && queries.invalidateQueries({ queryKey: ['application', application.id] }),
  })
  return (
    <section className="erase">
      <button
        className="quiet"
        aria-haspopup="dialog"
        onClick={() => {
          setTyped('')
          setAlso({ act: newAct(), also: [] })
          setIsWrong(false)
          dialog.current?.showModal()
        }}
      >
        Erase
      </button>
      <dialog ref={dialog} aria-labelledby="erase-title" onClose={cancel}>
        <h2 id="erase-title">Erase this application for good?</h2>
        <p>
          Answers, status, notes, history and delivery go, and cannot be brought back. That an application was
          erased stays, and by whom. Backups made before, and whoever got it by the webhook, still have it:
          erase it there too.
        </p>
        {email === undefined ? (
          <p>Reveal the application first: its e-mail has to be typed.</p>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault()
              setIsWrong(!same(typed, email))
              if (same(typed, email) && !isPending) mutate()
            }}
          >
            {others.length > 0 && (
              <fieldset>
                <legend>Also erase of the same e-mail</legend>
                {others.map(({ id, company, created_at }) => (
                  <label key={id} className="tick">
                    <input
                      type="checkbox"
                      checked={also.includes(id)}
                      onChange={({ target }) =>
                        setAlso({
                          act: newAct(),
                          also: target.checked ? [...also, id] : also.filter((each) => each !== id),
                        })
                      }
                    />
                    <bdi>{shortOf(company)}</bdi>, {momentOf(created_at)}
                  </label>
                ))}
              </fieldset>
            )}
            <div className="field">
              <label htmlFor="erase-email">
                Type the e-mail, <bdi>{email}</bdi>
              </label>
              <input
                id="erase-email"
                type="text"
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                value={typed}
                onChange={({ target }) => setTyped(target.value)}
              />
            </div>
            {isWrong && <p role="alert">This is not the e-mail of this application. Nothing was erased.</p>}
            {error && <p role="alert">{sentenceOf(error)}</p>}
            <button disabled={isPending}>Erase for good</button>
          </form>
        )}
        <form method="dialog">
          <button className="quiet">Cancel</button>
        </form>
      </dialog>
    </section>
  )
}

function wordsOf(erased: number) {
  if (erased === 0) return 'had been erased already'
  return erased === 1 ? 'erased' : `erased, ${erased} applications`
}

function same(one: string, other: string) {
  return one.trim().toLowerCase() === other.trim().toLowerCase()
}
