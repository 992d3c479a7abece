import type { Places } from '../../../client/desk/retreat.ts'
import { countOf, formatNumber } from '../kit/format.ts'
import { hrefOf } from '../kit/route.ts'
import { Sheet } from '../kit/Screen.tsx'
import { closingSentence } from './questions.ts'
import { useQuestions } from './useQuestions.ts'

/** The number of questions to guests, and links to the questions and to the guests' answers. */
export function QuestionsSummary({
  counts: { questions, open },
  today,
  edition,
}: {
  counts: NonNullable<Places['questions']>
  today: string
  /** The number of the retreat that is shown; undefined means the newest. */
  edition: number | undefined
}) {
  const { data } = useQuestions(edition)
  return (
    <Sheet title="Questions">
      <p>
        {questions === 0
          ? 'People who are coming are asked nothing yet, such as when they arrive or what they eat.'
          : `${countOf(questions, 'question')}, asked on the page of people who are coming. ${closingSentence(data?.closes_on ?? null, today)}`}
      </p>
      {open > 0 && (
        <p>
          {formatNumber(open)} {open === 1 ? 'person has' : 'people have'} not answered all required
          questions.
        </p>
      )}
      <p className="layout-row">
        <a className="control-link" href={hrefOf({ screen: 'questions', edition })}>
          {questions === 0 ? 'Ask questions' : 'Edit questions'}
        </a>
        <a className="control-link" href={hrefOf({ screen: 'guests', edition })}>
          Guests and their answers
        </a>
      </p>
    </Sheet>
  )
}
