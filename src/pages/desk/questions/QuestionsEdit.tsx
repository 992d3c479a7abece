import { useRef } from 'react'
import { flushSync } from 'react-dom'
import { maxQuestions } from '../../../application/limits.ts'
import { newActId } from '../../../client/act.ts'
import type { Questions } from '../../../client/desk/questions.ts'
import type { Places } from '../../../client/desk/retreat.ts'
import { usePlaces } from '../data/usePlaces.ts'
import { announce } from '../kit/announce.tsx'
import { Button } from '../kit/Button.tsx'
import { Field } from '../kit/Field.tsx'
import { countOf } from '../kit/format.ts'
import { Screen, Sheet } from '../kit/Screen.tsx'
import { useUnsentText } from '../data/useUnsentText.ts'
import { SaveButtons, useVersionedDraft, type Unsaved } from '../data/useVersionedDraft.tsx'
import { DueAnswers, PrivateDaysEdit } from './PrivateAnswers.tsx'
import { QuestionEdit, questionFieldId } from './QuestionEdit.tsx'
import {
  argumentsOf,
  draftOf,
  erasureSentence,
  hasPrivate,
  moved,
  withQuestions,
  type QuestionDraft,
  type QuestionsDraft,
} from './questions.ts'
import { useQuestions } from './useQuestions.ts'

/** The screen on which organisers write the questions to guests. */
export function QuestionsEdit({ edition }: { edition: number | undefined }) {
  const query = useQuestions(edition)
  const { data: places } = usePlaces(edition)
  return (
    <Screen title="Questions" query={query}>
      {(questions) => (
        <div className="questions-screen">
          <DueAnswers due={questions.due} />
          <QuestionsForm key={questions.edition} {...{ places }} stored={questions} />
        </div>
      )}
    </Screen>
  )
}

interface QuestionsFormProps {
  places: Places | undefined
  stored: Questions
}

function QuestionsForm({ places, stored }: QuestionsFormProps) {
  // Questions that are being written stay with their retreat when the next one begins.
  const { edition } = stored
  const addButton = useRef<HTMLButtonElement>(null)
  const draft = useVersionedDraft({
    input: useUnsentText<Unsaved<QuestionsDraft>>(`questions ${edition}`),
    call: 'desk_set_questions',
    stored: draftOf(stored),
    version: stored.version,
    argsOf: (entered) => ({ ...argumentsOf(entered, stored.version), edition }),
    versionOf: (saved) => saved.version,
    success: (saved) => `Saved. ${countOf(saved.questions.length, 'question')}.`,
  })
  const { value, enter } = draft
  const { questions } = value

  /** Changes the questions immediately, so that the focus can move to a part that has just appeared. */
  const change = (changed: QuestionDraft[]) => flushSync(() => enter(withQuestions(value, changed)))
  const focusQuestion = (id: string) => document.getElementById(questionFieldId(id))?.focus()

  const add = () => {
    // Questions have UUIDs as acts have.
    const id = newActId()
    change([
      ...questions,
      { id, kind: 'short', text: '', options: '', is_required: false, is_private: false },
    ])
    focusQuestion(id)
  }
  const remove = (index: number) => {
    const next = questions[index + 1] ?? questions[index - 1]
    change(questions.toSpliced(index, 1))
    announce('Question removed. Save to keep this change.')
    if (next) focusQuestion(next.id)
    else addButton.current?.focus()
  }
  const move = (index: number, by: 1 | -1) => {
    change(moved(questions, index, by))
    announce(`Question ${index + by + 1} of ${questions.length}`)
  }

  const isFull = questions.length >= maxQuestions
  const erasure = erasureSentence(value, stored.questions)
  return (
    <form onSubmit={draft.onSubmit}>
      <div className="layout-columns">
        <Sheet title="What guests are asked">
          <p className="layout-quiet">
            People who are coming are asked this on their page, and can change their answers there. Nobody is
            told of a new question until you send a reminder. A saved question keeps its kind, since people
            may have answered it.
          </p>
          {questions.length === 0 && <p>There are no questions yet.</p>}
          <ol className="questions-list">
            {questions.map((question, index) => (
              <li key={question.id}>
                <QuestionEdit
                  question={question}
                  number={index + 1}
                  stored={stored.questions.find(({ id }) => id === question.id)}
                  isFirst={index === 0}
                  isLast={index === questions.length - 1}
                  onChange={(changed) => change(questions.with(index, { ...question, ...changed }))}
                  onMove={(by) => move(index, by)}
                  onRemove={() => remove(index)}
                />
              </li>
            ))}
          </ol>
          <Button ref={addButton} isOff={isFull} onPress={add}>
            Add question
          </Button>
          {isFull && <p className="control-hint">There are at most {maxQuestions} questions.</p>}
        </Sheet>
        {questions.length > 0 && (
          <Sheet title="Days" className="questions-side">
            <Field
              label="Last day for answers"
              hint="Guests can change their answers until then. Leave blank for the first day of the retreat."
              type="date"
              min="2000-01-01"
              max="2999-12-31"
              value={value.until}
              onText={(until) => enter({ until })}
            />
            {hasPrivate(value) && (
              <PrivateDaysEdit
                days={value.days}
                endsOn={places?.retreat ? places.retreat.ends_on : undefined}
                edition={edition}
                onDays={(days) => enter({ days })}
              />
            )}
          </Sheet>
        )}
      </div>
      {(questions.length > 0 || stored.questions.length > 0) && (
        <div className="layout-save">
          {erasure !== '' && <p className="layout-notice error">{erasure}</p>}
          <SaveButtons
            draft={draft}
            conflictNotice={`Somebody else changed the questions meanwhile. There are ${countOf(stored.questions.length, 'question')} now. Your changes are not saved. Saving now replaces theirs.`}
          />
        </div>
      )}
    </form>
  )
}
