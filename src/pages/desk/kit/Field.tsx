import { useId, type ComponentProps, type ReactNode } from 'react'

import { focus } from './focus.ts'

interface FieldTexts {
  id?: string | undefined
  label: ReactNode
  hint?: ReactNode
  /** The reason why the value was refused; empty if it is valid, undefined if it is never checked. */
  problem?: string | undefined
}

/** The properties of a field of one line. */
export interface FieldProps extends FieldTexts, Omit<ComponentProps<'input'>, 'children'> {
  /** Called with the text on each change. */
  onText?: (text: string) => void
  /** Whether it takes the focus when it appears. */
  takesFocus?: boolean
}

/** A single-line field with its label, hint and problem. */
export function Field({ id, label, hint, problem, onText, takesFocus = false, ...input }: FieldProps) {
  return (
    <Labelled {...{ id, label, hint, problem }}>
      {(attributes) => (
        <input
          type="text"
          {...(takesFocus && { ref: focus })}
          {...(onText && { onChange: ({ target }) => onText(target.value) })}
          {...attributes}
          {...input}
        />
      )}
    </Labelled>
  )
}

interface TextFieldProps extends FieldTexts, Omit<ComponentProps<'textarea'>, 'children'> {
  onText: (text: string) => void
}

/** A multi-line field with its label, hint and problem. */
export function TextField({ id, label, hint, problem, onText, ...textarea }: TextFieldProps) {
  return (
    <Labelled {...{ id, label, hint, problem }}>
      {(attributes) => (
        <textarea onChange={({ target }) => onText(target.value)} {...attributes} {...textarea} />
      )}
    </Labelled>
  )
}

interface ChoiceProps<Value extends string> extends FieldTexts {
  options: readonly (readonly [value: Value, words: string])[]
  value: Value
  onChoose: (value: Value) => void
}

/** A select field. */
export function Choice<Value extends string>(props: ChoiceProps<Value>) {
  const { label, hint, problem, options, value, onChoose } = props
  return (
    <Labelled {...{ label, hint, problem }}>
      {(attributes) => (
        <select {...attributes} value={value} onChange={({ target }) => onChoose(target.value as Value)}>
          {options.map(([option, words]) => (
            <option key={option} value={option}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

interface LabelledProps extends FieldTexts {
  /** Renders the field with the attributes that connect it to its label, hint and problem. */
  children: (attributes: object) => ReactNode
}

function Labelled({ id: givenId, label, hint, problem, children }: LabelledProps) {
  const generatedId = useId()
  const id = givenId ?? generatedId
  const descriptionIds = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': descriptionIds || undefined,
        ...(problem !== undefined && { 'aria-invalid': problem !== '' }),
      })}
      {hint && (
        <p className="control-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p className="control-problem" role="alert" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  onSend: () => void
}

/** A form that is sent by a call of the desk instead of by the browser. */
export function Form({ onSend, ...form }: FormProps) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onSend()
      }}
      {...form}
    />
  )
}
