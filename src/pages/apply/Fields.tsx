import type { ReactNode } from 'react'

import { paidSolutions, teamSizes, type Application } from '../../application/application.ts'
import { questions, textFields } from '../../application/fields.ts'
import { privacyLabel } from './copy.ts'
import { useProblems, type Problems } from './useProblems.ts'

interface FieldsProps {
  /** The initial form answers. The fields themselves hold later changes. */
  formAnswers: Application | null
  sending: boolean
  privacyUrl: string | undefined
}

/** The questions, each with the browser's message if its form answer is invalid. */
export function Fields({ formAnswers, sending, privacyUrl }: FieldsProps) {
  const { problems, watch } = useProblems()
  return (
    // Text typed while sending would be lost. Unlike disabled fields, inert fields are still submitted.
    <div id="fields" inert={sending} {...watch}>
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
              {...invalidProps(problems, name)}
              {...attributes}
            />
            <Problem field={name} problems={problems} />
          </div>
        ))}
      </div>

      <Choices name="paid_solution" options={paidSolutions} chosen={formAnswers?.paid_solution}>
        {/* Two lines, so that the whole placeholder fits into a narrow window. */}
        <textarea
          className="custom-solution"
          name="custom_solution"
          rows={2}
          aria-label={questions.custom_solution}
          placeholder={questions.custom_solution}
          defaultValue={formAnswers?.custom_solution}
        />
      </Choices>
      <Choices name="team_size" options={teamSizes} chosen={formAnswers?.team_size} />

      <div className="field">
        <Label htmlFor="reason">{questions.reason}</Label>
        <textarea
          id="reason"
          name="reason"
          rows={5}
          required
          placeholder=" "
          defaultValue={formAnswers?.reason}
          {...invalidProps(problems, 'reason')}
        />
        <Problem field="reason" problems={problems} />
      </div>

      <label className="choice consent">
        <input
          type="checkbox"
          name="consent"
          value="true"
          required
          defaultChecked={formAnswers?.consent}
          {...invalidProps(problems, 'consent')}
        />
        <span>
          {questions.consent}
          <Asterisk />
        </span>
      </label>
      <Problem field="consent" problems={problems} />
      {/* Outside the label, which has only the sentence that the applicant agrees to. */}
      {privacyUrl !== undefined && (
        <p className="privacy">
          <a href={privacyUrl}>{privacyLabel}</a>
        </p>
      )}
    </div>
  )
}

/**
 * Marks an invalid field and links its message. A valid field has `aria-invalid` too, because without it browsers report blank
 * fields as invalid.
 */
function invalidProps(problems: Problems, name: string) {
  const isInvalid = Boolean(problems[name])
  return {
    'aria-invalid': isInvalid,
    'aria-describedby': isInvalid ? `${name}-problem` : undefined,
    // The inline script may already have marked the field.
    suppressHydrationWarning: true,
  }
}

function Problem({ field, problems }: { field: string; problems: Problems }) {
  return (
    problems[field] && (
      <p className="problem" id={`${field}-problem`}>
        {problems[field]}
      </p>
    )
  )
}

interface ChoicesProps {
  name: 'paid_solution' | 'team_size'
  options: Readonly<Record<string, string>>
  chosen: string | undefined
  /** A text box for a custom answer, beside the choice `custom`. */
  children?: ReactNode
}

function Choices({ name, options, chosen, children }: ChoicesProps) {
  return (
    // Screen readers announce the choice as required, but the form can be sent without it.
    <fieldset role="radiogroup" aria-required="true">
      <legend>
        {questions[name]}
        <Asterisk />
      </legend>
      <div className={`choices ${name}`}>
        {Object.entries(options).map(([value, label]) => {
          const radio = <input type="radio" name={name} value={value} defaultChecked={chosen === value} />
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
