import type { LoadAuth } from '../../../client/session.ts'
import { sentenceOfFactor } from './account-sentences.ts'
import { ClockNotice } from './ClockNotice.tsx'
import { Step, StepForm } from './Step.tsx'
import { codeIn } from './code-in.ts'
import { CodeField, codeProblem } from './CodeField.tsx'
import { SignOutButton } from './SignOutButton.tsx'
import { useForm } from './useForm.ts'
import type { WatchedSession } from './watch-session.ts'

/** The second step of signing in, for accounts with a second factor: a code from an authenticator app. */
export function SecondFactor({ auth, session }: { auth: LoadAuth; session: WatchedSession }) {
  const form = useForm(async (fields) => {
    const code = codeIn(fields)
    return code === undefined ? codeProblem : tryCode(auth, code)
  })
  return (
    <Step title="Second factor">
      <ClockNotice harm="codes of an app on it" />
      <StepForm form={form} others={<SignOutButton session={session} />}>
        <CodeField
          hint="The six digits that your authenticator app shows now."
          problem={form.problem}
          takesFocus
        />
      </StepForm>
    </Step>
  )
}

/** Tries the code with each authenticator of the account. Returns a sentence if none succeeds. */
async function tryCode(auth: LoadAuth, code: string): Promise<string | undefined> {
  const client = await auth()
  const { data, error } = await client.mfa.listFactors()
  if (error) return sentenceOfFactor(error)
  if (data.totp.length === 0) {
    // Either the factor was removed meanwhile: the new token needs none, and this step ends. Or the desk
    // does not support this kind of factor.
    const refreshed = await client.refreshSession()
    if (refreshed.error) return sentenceOfFactor(refreshed.error)
    return data.phone.length + data.webauthn.length > 0
      ? 'The desk accepts only codes from an authenticator app, and this account has none.'
      : undefined
  }
  let problem: string | undefined
  for (const { id } of data.totp) {
    const response = await client.mfa.challengeAndVerify({ factorId: id, code })
    if (response.error === null) return undefined
    problem = sentenceOfFactor(response.error)
    if (response.error.code !== 'mfa_verification_failed') return problem
  }
  return problem
}
