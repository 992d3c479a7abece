import type { Letter } from '../../../client/desk/letters.ts'
import type { LetterContent } from './LetterText.tsx'
import { useUnsentText, type Change } from '../data/useUnsentText.ts'
import type { Unsaved } from '../data/useVersionedDraft.tsx'
import type { DraftInput } from './DraftEdit.tsx'

/** The id of a draft, its occasion, its application and the recipient's name. */
export type Recipient = Pick<Letter, 'id' | 'occasion' | 'application' | 'name'>

/** The unsaved text of a draft, with its recipient. */
export interface DraftChange extends Unsaved<LetterContent>, Omit<Recipient, 'id'> {}

/** The unsaved texts of all drafts, including drafts that no longer exist. */
export function useDraftChanges() {
  const [changes, setUnsent] = useUnsentText<Record<string, DraftChange>>('drafts')
  const setText = ({ id, occasion, application, name }: Recipient, change: Change<Unsaved<LetterContent>>) =>
    setUnsent((latest) => {
      const { [id]: former = null, ...others } = latest ?? {}
      const changed = typeof change === 'function' ? change(former) : change
      const all = changed === null ? others : { ...others, [id]: { ...changed, occasion, application, name } }
      return Object.keys(all).length === 0 ? null : all
    })
  return {
    all: Object.entries(changes ?? {}).map(([id, change]) => ({ id, ...change })),
    /** The unsaved text of a draft. Text equal to the saved text counts as saved: only the response may have been lost. */
    of(draft: Letter): DraftInput {
      const { [draft.id]: change = null } = changes ?? {}
      const isSame = change?.value.subject === draft.subject && change.value.body === draft.body
      return [isSame ? null : change, (changed) => setText(draft, changed), draft.id]
    },
    discard: (recipient: Recipient) => setText(recipient, null),
  }
}
