import { Field, type FieldProps } from '../kit/Field.tsx'

/** A field for a code from an email or an authenticator app. */
export function CodeField(props: Pick<FieldProps, 'hint' | 'problem' | 'takesFocus'>) {
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

/** The message for a text that cannot be a code. */
export const codeProblem = 'A code has six digits. Please check it.'
