import { mostCharacters } from '../../../application/limits.ts'
import type { LettersOverview } from '../../../client/desk.ts'
import { announce } from '../kit/announce.tsx'
import { Field } from '../kit/Field.tsx'
import { useDesk } from '../kit/useDesk.tsx'
import { useTyped } from '../kit/useTyped.ts'
import { DraftButtons, useVersionedDraft, type Draft } from '../kit/useVersionedDraft.tsx'

/** Where answers to letters go. */
export function ReplyToEdit({ settings }: Pick<LettersOverview, 'settings'>) {
  const { version, receipts, reply_to: replyTo } = settings
  const desk = useDesk()
  const draft = useVersionedDraft({
    kept: useTyped<Draft<{ to: string }>>('reply-to'),
    call: 'desk_set_letters',
    standing: { to: replyTo },
    // Whether receipts are sent is of the same version, and does not change what is entered here.
    version: replyTo,
    givenOf: ({ to }) => ({ version, receipts, reply_to: to.trim() }),
    onSaved(saved) {
      const { reply_to: to } = saved
      desk.keep(desk.letters(), (former) => ({ ...former, settings: { ...former.settings, ...saved } }))
      announce(to === '' ? 'Saved. Answers go to the sender.' : `Saved. Answers go to ${to}.`)
      return to
    },
  })
  return (
    <form onSubmit={draft.onSubmit}>
      <Field
        label="Answers go to"
        hint="One e-mail address. Left blank: to the sender."
        type="email"
        autoComplete="off"
        maxLength={mostCharacters.address}
        value={draft.value.to}
        onText={(to) => draft.enter({ to })}
      />
      <DraftButtons
        draft={draft}
        className="quiet"
        meanwhile={`Somebody else changed this meanwhile: answers go to ${replyTo || 'the sender'} now. What you entered is not saved.`}
      />
    </form>
  )
}
