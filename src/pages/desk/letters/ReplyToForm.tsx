import { mostCharacters } from '../../../application/limits.ts'
import type { CallDesk, LettersOverview } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useTyped } from '../typed.ts'
import { isConflict, useKeepStanding, useLetterAct } from './letters.ts'

interface ReplyToFormProps {
  callDesk: CallDesk
  settings: LettersOverview['settings']
}

/** Where answers to letters go. Until something is entered, the field follows how it stands. */
export function ReplyToForm({ callDesk, settings }: ReplyToFormProps) {
  const [typed, setDraft] = useTyped<{ entered: string; over: string }>('reply-to')
  // Of what was being saved when the screen was left nobody was told that it was.
  const draft = typed?.entered === settings.reply_to ? null : typed
  const keepStanding = useKeepStanding()
  const save = useLetterAct(
    (reply_to: string, signal) =>
      callDesk(
        'desk_set_letters',
        { version: settings.version, receipts: settings.receipts, reply_to },
        signal,
      ),
    (saved) => {
      const { reply_to: to } = saved
      keepStanding((former) => ({ ...former, settings: { ...former.settings, ...saved } }))
      setDraft(null)
      announce(to === '' ? 'Saved. Answers go to the sender.' : `Saved. Answers go to ${to}.`)
    },
  )
  const entered = draft?.entered ?? settings.reply_to
  const isStale = draft !== null && !save.isPending && draft.over !== settings.reply_to
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (save.isPending) return
        // How it stands now has been seen.
        setDraft({ entered, over: settings.reply_to })
        save.mutate(entered.trim())
      }}
    >
      <div className="field">
        <label htmlFor="reply-to">Answers go to</label>
        <input
          id="reply-to"
          aria-describedby="reply-to-hint"
          type="email"
          autoComplete="off"
          maxLength={mostCharacters.address}
          value={entered}
          onChange={({ target }) =>
            setDraft({ entered: target.value, over: draft?.over ?? settings.reply_to })
          }
        />
        <p className="hint" id="reply-to-hint">
          One e-mail address. Left blank: to the sender.
        </p>
      </div>
      {isStale && (
        <p className="notice error" role="alert">
          Somebody else changed this meanwhile: answers go to {settings.reply_to || 'the sender'} now. What
          you entered is not saved.
        </p>
      )}
      {save.error && !(isConflict(save.error) && isStale) && (
        <p role="alert">Not saved. {sentenceOf(save.error)}</p>
      )}
      <div className="row">
        <button className="quiet">{isStale ? 'Save anyway' : 'Save'}</button>
        {draft && (
          <button type="button" className="quiet" onClick={() => setDraft(null)}>
            Discard
          </button>
        )}
      </div>
    </form>
  )
}
