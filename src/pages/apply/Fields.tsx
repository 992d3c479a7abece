import type { ReactNode } from 'react'

import { paidSolutions, teamSizes, type Application } from '../../application/application.ts'
import { questions, textFields } from '../../application/fields.ts'
import { lockOf } from './lock.ts'

interface FieldsProps {
  /** The answers that the browser had posted; null for blank fields. */
  formAnswers: Application | null
  privacyUrl: string | undefined
  privacyLabel: string
  /** Whether the door is closed. */
  isClosed: boolean
}

/** The questions. */
export function Fields({ formAnswers, privacyUrl, privacyLabel, isClosed }: FieldsProps) {
  return (
    <div id="fields">
      <div className="text-fields">
        {textFields.map(({ name, label, ...attributes }) => (
          <div className="field" key={name}>
            <Label htmlFor={name}>{label}</Label>
            {/* The style detects a blank field by its placeholder. */}
            <input
              id={name}
              name={name}
              required
              placeholder=" "
              enterKeyHint="next"
              defaultValue={formAnswers?.[name]}
              {...valid}
              {...attributes}
              {...lockOf(isClosed, formAnswers?.[name])}
            />
          </div>
        ))}
      </div>

      <Choices
        name="paid_solution"
        options={paidSolutions}
        chosen={formAnswers?.paid_solution}
        isClosed={isClosed}
      >
        {/* Two lines, so that the whole placeholder fits into a narrow window. */}
        <textarea
          className="custom-solution"
          name="custom_solution"
          rows={2}
          aria-label={questions.custom_solution}
          placeholder={questions.custom_solution}
          defaultValue={formAnswers?.custom_solution}
          {...lockOf(isClosed, formAnswers?.custom_solution)}
        />
      </Choices>
      <Choices name="team_size" options={teamSizes} chosen={formAnswers?.team_size} isClosed={isClosed} />

      <div className="field">
        <Label htmlFor="reason">{questions.reason}</Label>
        <textarea
          id="reason"
          name="reason"
          rows={5}
          required
          placeholder=" "
          defaultValue={formAnswers?.reason}
          {...valid}
          {...lockOf(isClosed, formAnswers?.reason)}
        />
      </div>

      <label className="choice consent">
        <input
          type="checkbox"
          name="consent"
          value="true"
          required
          defaultChecked={formAnswers?.consent}
          disabled={isClosed}
          {...valid}
        />
        <span>
          {questions.consent}
          <Asterisk />
        </span>
      </label>
      {/* Outside the label, which has only the sentence that the applicant agrees to. */}
      {privacyUrl !== undefined && (
        <p className="privacy">
          <a href={privacyUrl}>{privacyLabel}</a>
        </p>
      )}
    </div>
  )
}

/** Without it browsers report blank fields as invalid. `problems.ts` marks the fields that are. */
const valid = { 'aria-invalid': false }

interface ChoicesProps {
  name: 'paid_solution' | 'team_size'
  options: Readonly<Record<string, string>>
  chosen: string | undefined
  isClosed: boolean
  /** A text box for a custom answer, beside the choice `custom`. */
  children?: ReactNode
}

function Choices({ name, options, chosen, isClosed, children }: ChoicesProps) {
  return (
    // Screen readers announce the choice as required, but the form can be sent without it.
    <fieldset role="radiogroup" aria-required="true">
      <legend>
        {questions[name]}
        <Asterisk />
      </legend>
      <div className={`choices ${name}`}>
        {Object.entries(options).map(([value, label]) => {
          const radio = (
            <input
              type="radio"
              name={name}
              value={value}
              defaultChecked={chosen === value}
              disabled={isClosed}
            />
          )
          return value === 'custom' ? (
            <div className="choice custom" key={value}>
              <label>
                {radio}
                <span className="visually-hidden">{label}</span>
              </label>
              {children}
            </div>
          ) : (
            <label className="choice" key={value}>
              {radio}
              <span>{label}</span>
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

/** Only visual: screen readers read the control's `required`. */
function Asterisk() {
  return (
    <span className="asterisk" aria-hidden="true">
      *
    </span>
  )
}
