import { maxCharacters } from '../../../application/limits.ts'
import type { QuestionKind } from '../../../application/questions.ts'
import type { Questions } from '../../../client/desk/questions.ts'
import { Confirmation, Dialog } from '../kit/Dialog.tsx'
import { Button } from '../kit/Button.tsx'
import { Choice, Field, TextField } from '../kit/Field.tsx'
import { Tick } from '../kit/Tick.tsx'
import { countOf } from '../kit/format.ts'
import { questionKinds, type QuestionDraft } from './questions.ts'

/** The id of the field with a question's text. */
export function questionFieldId(id: string): string {
  return `question-${id}`
}

interface QuestionEditProps {
  question: QuestionDraft
  number: number
  /** The question as it is stored; undefined if it is new. */
  stored: Questions['questions'][number] | undefined
  isFirst: boolean
  isLast: boolean
  onChange: (change: Partial<QuestionDraft>) => void
  onMove: (by: 1 | -1) => void
  onRemove: () => void
}

/** The fields of one question. */
export function QuestionEdit(props: QuestionEditProps) {
  const { question, number, stored, isFirst, isLast, onChange, onMove, onRemove } = props
  const { id, kind, text, options, is_required, is_private } = question
  const answers = stored?.answers ?? 0
  const isFixedPrivate = stored?.is_private === true
  const about = `question ${number}`
  return (
    <fieldset className="questions-item">
      <legend>
        Question {number}
        {answers > 0 && <span className="layout-quiet">, {countOf(answers, 'answer')}</span>}
      </legend>
      <div className="questions-text">
        <Field
          id={questionFieldId(id)}
          label={<span className="visually-hidden">Question</span>}
          autoComplete="off"
          required
          maxLength={maxCharacters.question}
          value={text}
          onText={(changed) => onChange({ text: changed })}
        />
        {stored === undefined ? (
          <Choice
            label="Kind"
            options={Object.entries(questionKinds) as [QuestionKind, string][]}
            value={kind}
            onChoose={(chosen) => onChange({ kind: chosen })}
          />
        ) : (
          <p className="questions-kind layout-quiet">{questionKinds[kind]}</p>
        )}
      </div>
      {kind === 'choice' && (
        <TextField
          label="Options"
          hint="One per line, 2 to 20."
          required
          rows={Math.max(3, options.split('\n').length)}
          value={options}
          onText={(changed) => onChange({ options: changed })}
        />
      )}
      <div className="layout-row questions-foot">
        <Tick isOn={is_required} onTick={(isOn) => onChange({ is_required: isOn })}>
          Required
        </Tick>
        {isFixedPrivate ? (
          <span className="questions-fixed-private">Private</span>
        ) : (
          <Tick isOn={is_private} onTick={(isOn) => onChange({ is_private: isOn })}>
            Private
          </Tick>
        )}
        <span className="questions-buttons">
          <Button about={about} isOff={isFirst} onPress={() => onMove(-1)}>
            Up
          </Button>
          <Button about={about} isOff={isLast} onPress={() => onMove(1)}>
            Down
          </Button>
          {answers > 0 ? (
            <Dialog button="Remove" about={about}>
              {(close) => (
                <Confirmation
                  title={`Remove question ${number}?`}
                  close={close}
                  closeWords="Keep"
                  confirm="Remove question"
                  onConfirm={onRemove}
                >
                  <p>{`Saving then erases ${countOf(answers, 'answer')}.`}</p>
                </Confirmation>
              )}
            </Dialog>
          ) : (
            <Button about={about} onPress={onRemove}>
              Remove
            </Button>
          )}
        </span>
      </div>
      {is_private && (
        <p className="control-hint">
          Such as health or an emergency number. Hidden from blind readers, not passed on to connected
          systems, left out of tables unless you choose its column, and erased after the retreat.
          {isFixedPrivate && ' It stays private, since guests may have been told so.'}
        </p>
      )}
    </fieldset>
  )
}
