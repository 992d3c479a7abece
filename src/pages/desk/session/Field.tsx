import { useId, type InputHTMLAttributes } from 'react'

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  label: string
  hint?: string
  /** Why it was refused, in a sentence; empty where it was not. */
  problem?: string
  /** Whether it has the focus from the start. */
  isFirst?: boolean
}

/** A text field with its label, and with what is said about it. */
export function Field({ label, hint = '', problem = '', isFirst = false, ...attributes }: FieldProps) {
  const id = useId()
  const about = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ')
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        ref={isFirst ? focus : undefined}
        required
        aria-invalid={problem !== ''}
        aria-describedby={about || undefined}
        {...attributes}
      />
      {hint && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p className="problem" role="alert" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  )
}

/** A field for a code of digits, of a mail or an authenticator. */
export function CodeField(props: Omit<FieldProps, 'label' | 'name' | 'type'>) {
  return (
    <Field
      label="Code"
      name="code"
      type="text"
      autoComplete="one-time-code"
      inputMode="numeric"
      spellCheck={false}
      {...props}
    />
  )
}

/** The code that was typed or pasted, without what stood between its digits; nothing where it cannot be one. */
export function codeIn(fields: FormData): string | undefined {
  const code = textIn(fields, 'code').replace(/[\s-]/g, '')
  // A hosted project may make longer ones.
  return /^\d{6,10}$/.test(code) ? code : undefined
}

/** What was written into a field. */
export function textIn(fields: FormData, name: string): string {
  const text = fields.get(name)
  return typeof text === 'string' ? text : ''
}

export const sixDigits = 'A code has six digits. Please check it.'

/** Gives an element the focus when it comes. */
export function focus(element: HTMLElement | null): void {
  element?.focus()
}
