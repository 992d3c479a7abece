import type { LoadAuth } from '../../../client/session.ts'
import { Field } from '../kit/Field.tsx'
import { sentenceOfSignIn } from './sentences.ts'
import { OtherWay, Step, StepForm } from './Step.tsx'
import { textIn, useForm } from './useForm.ts'

interface PasswordFormProps {
  auth: LoadAuth
  email: string
  /** Called with the typed email. */
  onCode: (email: string) => void
}

/** The sign-in by email and password. */
export function PasswordForm({ auth, email, onCode }: PasswordFormProps) {
  const form = useForm(async (fields) => {
    const client = await auth()
    const { error } = await client.signInWithPassword({
      email: textIn(fields, 'email').trim(),
      password: textIn(fields, 'password'),
    })
    return error && sentenceOfSignIn(error)
  })
  return (
    <Step title="Sign in">
      <StepForm form={form} others={<OtherWay onPress={onCode}>Use a code</OtherWay>}>
        <Field
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          required
          defaultValue={email}
          takesFocus={email === ''}
        />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          problem={form.problem}
          takesFocus={email !== ''}
        />
      </StepForm>
    </Step>
  )
}
