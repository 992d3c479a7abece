import { useState } from 'react'
import { Link } from 'wouter'

import { mostAtOnce } from '../../../application/limits.ts'
import type { CallDesk, WriteOutcome } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { sentenceOf } from '../messages.ts'
import { useLetterAct, useLetters } from './letters.ts'
import { draftsOf } from './places.ts'
import { nameOfOccasion, received } from './words.ts'

interface WriteManyFormProps {
  callDesk: CallDesk
  applications: readonly string[]
}

/** What the letters are to say, and what became of their drafts. */
export function WriteManyForm({ callDesk, applications }: WriteManyFormProps) {
  const { data: overview, error } = useLetters(callDesk)
  const [chosen, setChosen] = useState('')
  const write = useLetterAct(
    (occasion: string, signal) =>
      callDesk('desk_write', { applications: applications.slice(0, mostAtOnce), occasion }, signal),
    (outcomes) => announce(wordsOf(outcomes)),
  )
  const occasions = (overview?.templates ?? [])
    .map(({ occasion }) => occasion)
    .filter((occasion) => occasion !== received)
  const occasion = occasions.includes(chosen) ? chosen : occasions[0]
  if (occasion === undefined)
    return error ? <p role="alert">{sentenceOf(error)}</p> : <p aria-busy="true">Loading…</p>
  // What came of it, for as long as nothing else is chosen.
  const isSame = write.variables === occasion
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!write.isPending) write.mutate(occasion)
      }}
    >
      <p>Nothing is sent by this: the drafts are read first.</p>
      {applications.length > mostAtOnce && (
        <p>Of these, the first {mostAtOnce.toLocaleString('en')} are written to.</p>
      )}
      <div className="field">
        <label htmlFor="template">Template</label>
        <select id="template" value={occasion} onChange={({ target }) => setChosen(target.value)}>
          {occasions.map((each) => (
            <option key={each} value={each}>
              {nameOfOccasion(each)}
            </option>
          ))}
        </select>
      </div>
      {/* Outside of the dialog nothing is said while it is open. */}
      <div aria-live="polite">
        {isSame && write.data && (
          <p>
            {wordsOf(write.data)} <Link href={draftsOf(occasion)}>Review drafts</Link>
          </p>
        )}
      </div>
      {isSame && write.error && <p role="alert">{sentenceOf(write.error)}</p>}
      <button>{write.isPending ? 'Drafting…' : 'Draft letters'}</button>
    </form>
  )
}

const words = {
  drafted: 'drafted',
  written: 'written before',
  undelivered: 'written before and did not arrive: see Letters',
  gone: 'gone',
  undecided: 'undecided: another decision stands',
}

function kindOf({ outcome, state }: WriteOutcome): keyof typeof words {
  return state === 'refused' || state === 'given up' ? 'undelivered' : outcome
}

/** What became of drafts, by number: `12 drafted, 1 written before.` */
function wordsOf(outcomes: readonly WriteOutcome[]) {
  const counts = Object.entries(words).map(([kind, said]) => ({
    count: outcomes.filter((each) => kindOf(each) === kind).length,
    said,
  }))
  const some = counts.filter(({ count }) => count > 0)
  return `${some.map(({ count, said }) => `${count.toLocaleString('en')} ${said}`).join(', ')}.`
}
