import { useState } from 'react'

import { maxCharacters } from '../../../application/limits.ts'
import type { ApplicationDetails } from '../../../client/desk/applications.ts'
import type { AnsweredQuestion } from '../../../application/questions.ts'
import { Dialog } from '../kit/Dialog.tsx'
import { DialogForm } from '../kit/DialogForm.tsx'
import { Choice, Field, TextField } from '../kit/Field.tsx'
import { LongText } from '../kit/LongText.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { useDesk } from '../data/useDesk.tsx'
import { useDeskAct } from '../data/useDeskAct.ts'
import { answerWords, yesNo } from './questions.ts'

interface GuestAnswersProps {
  details: Pick<ApplicationDetails, 'application' | 'questions'>
  name: string
  /** Whether the person is accepted, as far as the desk knows. */
  isAccepted: boolean
  isBlind: boolean
}

/** The questions to somebody who is coming, and their answers; nothing if there are none. */
export function GuestAnswers({ details, name, isAccepted, isBlind }: GuestAnswersProps) {
  const { application, questions } = details
  const { isReader } = useDesk()
  if (questions.length === 0) return null
  return (
    <Sheet title="Questions to guests" className="questions-answers">
      <dl className="application-answers">
        {questions.map((question) => (
          <div key={question.id} data-private={question.is_private || undefined}>
            <dt>
              {question.text}
              {question.is_private && ' (private)'}
            </dt>
            <dd>
              <Answer question={question} />
            </dd>
          </div>
        ))}
      </dl>
      {isAccepted && !isReader && application.answer === 'coming' && (
        <AnswersEnter
          application={application.id}
          name={name}
          questions={questions.filter(({ is_private }) => !isBlind || !is_private)}
          isPartial={isBlind && questions.some(({ is_private }) => is_private)}
        />
      )}
    </Sheet>
  )
}

function Answer({ question }: { question: AnsweredQuestion }) {
  const { isReader } = useDesk()
  if (question.answer !== null) return <LongText text={answerWords(question, question.answer)} />
  const hidden = isReader ? 'Hidden from readers' : 'Hidden while blind reading is on'
  return <span className="layout-quiet">{question.is_answered ? hidden : 'No answer'}</span>
}

interface AnswersEnterProps {
  application: string
  name: string
  questions: readonly AnsweredQuestion[]
  /** Whether private questions are left out. */
  isPartial: boolean
}

/** A dialog that stores answers that came another way, such as by email. */
function AnswersEnter(props: AnswersEnterProps) {
  // Closing the dialog keeps what was entered.
  const [answers, setAnswers] = useState<Record<string, string>>({})
  return (
    <Dialog button="Enter answers" className="questions-answer-dialog">
      {(close) => <AnswersForm {...props} {...{ answers, setAnswers, close }} />}
    </Dialog>
  )
}

interface AnswersFormProps extends AnswersEnterProps {
  answers: Record<string, string>
  setAnswers: (change: (former: Record<string, string>) => Record<string, string>) => void
  close: () => void
}

function AnswersForm(props: AnswersFormProps) {
  const { application, name, questions, isPartial, answers, setAnswers, close } = props
  const save = useDeskAct('desk_answer_questions', {
    success: () => `${name}: answers saved`,
    onSuccess() {
      close()
      setAnswers(() => ({}))
    },
  })
  return (
    <DialogForm
      title="Enter answers"
      button="Save answers"
      act={save}
      close={close}
      onSend={() => save.press({ application, answers: changedAnswers(answers, questions) })}
    >
      <p>For answers that came another way, such as by email. Nobody is told of the change.</p>
      {isPartial && <p>Private questions are hidden while blind reading is on.</p>}
      {questions.map((question) => (
        <AnswerField
          key={question.id}
          question={question}
          answer={answers[question.id] ?? question.answer ?? ''}
          onAnswer={(answer) => setAnswers((former) => ({ ...former, [question.id]: answer }))}
        />
      ))}
    </DialogForm>
  )
}

/** The answers that the organiser changed. Only these are sent, so that no answer that the guest changes meanwhile is lost. */
function changedAnswers(answers: Record<string, string>, questions: readonly AnsweredQuestion[]) {
  return Object.fromEntries(
    questions.flatMap(({ id, answer }) => {
      const entered = answers[id]
      return entered === undefined || entered === (answer ?? '') ? [] : [[id, entered]]
    }),
  )
}

interface AnswerFieldProps {
  question: AnsweredQuestion
  answer: string
  onAnswer: (answer: string) => void
}

function AnswerField({ question, answer, onAnswer }: AnswerFieldProps) {
  const { kind, text, choices, is_private } = question
  const label = is_private ? `${text} (private)` : text
  const field = {
    label,
    value: answer,
    onText: onAnswer,
    autoComplete: 'off',
    maxLength: maxCharacters.answer,
  }
  const choiceOf = (options: readonly (readonly [string, string])[]) => (
    <Choice
      label={label}
      // A stored answer can be chosen even if it is no longer an option.
      options={[['', 'No answer'], ...options, ...unknownOption(answer, options)]}
      value={answer}
      onChoose={onAnswer}
    />
  )
  switch (kind) {
    case 'short':
      return <Field {...field} />
    case 'long':
      return <TextField rows={3} {...field} />
    case 'yes-no':
      return choiceOf(yesNo)
    case 'choice':
      return choiceOf(choices.map((option) => [option, option] as const))
  }
}

function unknownOption(answer: string, options: readonly (readonly [string, string])[]) {
  return answer === '' || options.some(([value]) => value === answer) ? [] : [[answer, answer] as const]
}
