import { Field, type FieldProps } from '../kit/Field.tsx'

/** A field for a code of digits, of a mail or an authenticator. */
export function CodeField(props: Pick<FieldProps, 'hint' | 'problem' | 'isFirst'>) {
  return (
    <Field
      label="Code"
      name="code"
      autoComplete="one-time-code"
      inputMode="numeric"
      spellCheck={false}
      required
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
