import type { ReactNode } from 'react'

import { paidSolutions, teamSizes, type Application } from '../../application/application.ts'
import { questions, textFields } from '../../application/fields.ts'
import { useProblems, type Problems } from './useProblems.ts'

interface FieldsProps {
  /** What the questions begin with; they keep their own answers. */
  answers: Application | null
  sending: boolean
}

/** The questions, and what the browser says is wrong in which of them. */
export function Fields({ answers, sending }: FieldsProps) {
  const { problems, watch } = useProblems()
  return (
    // What somebody types during a send would be lost. Unlike disabled fields, inert ones are still sent.
    <div id="fields" inert={sending} {...watch}>
      <div className="text-fields">
        {textFields.map(({ name, label, ...attributes }) => (
          <div className="field" key={name}>
            <Label htmlFor={name}>{label}</Label>
            {/* The style tells by the placeholder whether the field is empty. */}
            <input
              id={name}
              name={name}
              required
              placeholder=" "
              enterKeyHint="next"
              defaultValue={answers?.[name]}
              {...refusal(problems, name)}
              {...attributes}
            />
            <Problem of={name} problems={problems} />
          </div>
        ))}
      </div>

      <Choices name="paid_solution" options={paidSolutions} chosen={answers?.paid_solution}>
        {/* Of several lines, so that its placeholder is whole in a narrow window. */}
        <textarea
          className="custom-solution"
          name="custom_solution"
          rows={2}
          enterKeyHint="next"
          aria-label={questions.custom_solution}
          placeholder={questions.custom_solution}
          defaultValue={answers?.custom_solution}
        />
      </Choices>
      <Choices name="team_size" options={teamSizes} chosen={answers?.team_size} />

      <div className="field">
        <Label htmlFor="reason">{questions.reason}</Label>
        <textarea
          id="reason"
          name="reason"
          rows={5}
          required
          placeholder=" "
          defaultValue={answers?.reason}
          {...refusal(problems, 'reason')}
        />
        <Problem of="reason" problems={problems} />
      </div>

      <label className="choice consent">
        <input
          type="checkbox"
          name="consent"
          value="true"
          required
          defaultChecked={answers?.consent}
          {...refusal(problems, 'consent')}
        />
        <span>
          {questions.consent}
          <Asterisk />
        </span>
      </label>
      <Problem of="consent" problems={problems} />
    </div>
  )
}

/** Whether a field was refused, and where it says why. Without it, browsers tell of a blank field that it is wrong. */
function refusal(problems: Problems, name: string) {
  const isRefused = Boolean(problems[name])
  return {
    'aria-invalid': isRefused,
    'aria-describedby': isRefused ? `${name}-problem` : undefined,
    // A send that was refused before the script came has marked it.
    suppressHydrationWarning: true,
  }
}

function Problem({ of, problems }: { of: string; problems: Problems }) {
  return (
    problems[of] && (
      <p className="problem" id={`${of}-problem`}>
        {problems[of]}
      </p>
    )
  )
}

interface ChoicesProps {
  name: 'paid_solution' | 'team_size'
  options: Readonly<Record<string, string>>
  chosen: string | undefined
  /** A box for an answer of one's own, beside the choice `custom`. */
  children?: ReactNode
}

function Choices({ name, options, chosen, children }: ChoicesProps) {
  return (
    // It is announced as required to everyone, and nothing enforces it.
    <fieldset role="radiogroup" aria-required="true">
      <legend>
        {questions[name]}
        <Asterisk />
      </legend>
      <div className={`choices ${name}`}>
        {Object.entries(options).map(([value, meaning]) => {
          const radio = <input type="radio" name={name} value={value} defaultChecked={chosen === value} />
          return value === 'custom' ? (
            <div className="choice custom" key={value}>
              <label>
                {radio}
                <span className="visually-hidden">{meaning}</span>
              </label>
              {children}
            </div>
          ) : (
            <label className="choice" key={value}>
              {radio}
              <span>{meaning}</span>
            </label>
          )
        })}
      </div>
    </fieldset>
  )
}

function Label({ htmlFor, children }: { htmlFor: string; children: string }) {
  return (
    <label htmlFor={htmlFor}>
      {children}
      <Asterisk />
    </label>
  )
}

/** Read out by the control's own `required`, so only shown here. */
function Asterisk() {
  return (
    <span className="asterisk" aria-hidden="true">
      *
    </span>
  )
}
