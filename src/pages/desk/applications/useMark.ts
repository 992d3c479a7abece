import type { Mark, MarkValue } from '../../../client/desk/marks.ts'
import { useDeskAct } from '../data/useDeskAct.ts'
import type { Keys } from '../kit/useKeys.ts'
import { useUnsentText } from '../data/useUnsentText.ts'
import { markWords } from './marks.ts'

/** The result of `useMark`. */
export type MarkDraft = ReturnType<typeof useMark>

/**
 * The organiser's own mark of an application, stored or being saved, with the typed line about it.
 *
 * @param onMarked Called at once when a mark was given or changed, before it is saved.
 * @returns `current`, the mark, which is the new one while it is being saved; `why`, the line; `mark`, which saves a mark with
 *   the line, or takes the mark back (null); `keys`, which call `mark`. The keys work as soon as the form answers are
 *   shown, which is before `MarkEdit` is shown.
 */
export function useMark(application: string, name: string, own: Mark | null, onMarked: () => void) {
  const [typed, setTyped] = useUnsentText<string>(`mark ${application}`)
  const save = useDeskAct('desk_mark', {
    success: (_marks, { mark: saved }) =>
      `${name}: ${saved === null ? 'no mark' : `your mark is ${markWords[saved]}`}`,
    // A line that was not saved stays, such as one that was typed meanwhile.
    onSaved: (_marks, { mark: saved, why: savedWhy }) =>
      setTyped((latest) => (saved !== null && latest === savedWhy ? null : latest)),
    queuesLatest: true,
  })
  const stored = own?.why ?? ''
  const why = typed ?? stored
  const isWhyChanged = why !== stored
  const current = (save.isPending ? save.args?.mark : own?.mark) ?? null
  const mark = (value: MarkValue | null) => {
    if (value === current && (value === null || !isWhyChanged)) return
    save.press({ application, mark: value, why })
    if (value !== null && value !== current) onMarked()
  }
  const keys: Keys = {
    1: () => mark('yes'),
    2: () => mark('maybe'),
    3: () => mark('no'),
    0: () => mark(null),
  }
  const setWhy = (text: string) => setTyped(text === stored ? null : text)
  return { current, why, setWhy, isWhyChanged, mark, keys, save }
}
