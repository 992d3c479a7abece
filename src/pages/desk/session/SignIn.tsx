import { useEffect, useState } from 'react'

import type { LoadAuth } from '../../../client/session.ts'
import { Button } from '../kit/Button.tsx'
import { Field } from '../kit/Field.tsx'
import { focusUnlessElsewhere } from '../kit/focus.ts'
import { Problem } from '../kit/Problem.tsx'
import type { Notice } from './notices.ts'
import { sentenceOfSignIn } from './sentences.ts'
import { AskOperator } from './AskOperator.tsx'
import { codeIn } from './code-in.ts'
import { CodeField, codeProblem } from './CodeField.tsx'
import { PasswordForm } from './PasswordForm.tsx'
import { OtherWay, Step, StepForm } from './Step.tsx'
import { textIn, useForm } from './useForm.ts'

interface SignInProps {
  auth: LoadAuth
  /** The notice above the first field. */
  notice: Notice | undefined
}

/** The steps of signing in: by email and a code, or by email and a password. */
export function SignIn({ auth, notice }: SignInProps) {
  const [email, setEmail] = useState('')
  const [step, setStep] = useState<'email' | 'code' | 'password'>('email')
  useEffect(replayHeldPress, [])
  const goTo = (next: typeof step) => (typed: string) => {
    setEmail(typed)
    // A response may arrive after the step was left.
    setStep((now) => (now === step ? next : now))
  }
  if (step === 'code') return <CodeForm {...{ auth, email }} onBack={() => setStep('email')} />
  if (step === 'password') return <PasswordForm {...{ auth, email }} onCode={goTo('email')} />
  return (
    <EmailForm
      {...{ auth, email }}
      notice={email === '' ? notice : undefined}
      onSent={goTo('code')}
      onPassword={goTo('password')}
    />
  )
}

/** Repeats a press of a button in the prerendered form, made before the script had loaded. */
function replayHeldPress() {
  const button = window.heldPress
  window.heldPress = null
  button?.removeAttribute('aria-busy')
  button?.click()
}

interface EmailFormProps extends SignInProps {
  email: string
  onSent: (email: string) => void
  /** Called with the typed email. */
  onPassword: (email: string) => void
}

function EmailForm({ auth, notice, email: former, onSent, onPassword }: EmailFormProps) {
  /** The address for which the operator must create a link, since this site sends no emails; otherwise blank. */
  const [emailForOperator, setEmailForOperator] = useState('')
  const form = useForm(async (fields) => {
    const email = textIn(fields, 'email').trim()
    const outcome = await askForCode(auth, email)
    setEmailForOperator(outcome === 'no mail' ? email : '')
    if (outcome === 'sent') onSent(email)
    return typeof outcome === 'string' ? undefined : outcome.sentence
  })
  return (
    <Step title="Sign in" notice={emailForOperator === '' && form.problem === '' ? notice : undefined}>
      {emailForOperator !== '' && <AskOperator email={emailForOperator} />}
      <StepForm
        form={form}
        button="Send code"
        pending="Sending…"
        others={<OtherWay onPress={onPassword}>Use a password</OtherWay>}
      >
        {/* The id is fixed: a generated id would differ from the prerendered one, since the document has more content. */}
        <Field
          id="email"
          label="Email"
          name="email"
          type="email"
          autoComplete="email"
          required
          defaultValue={former}
          problem={form.problem}
          ref={focusUnlessElsewhere}
        />
      </StepForm>
    </Step>
  )
}

function CodeForm({ auth, email, onBack }: { auth: LoadAuth; email: string; onBack: () => void }) {
  const [sentAgain, setSentAgain] = useState(0)
  const form = useForm(async (fields) => {
    const token = codeIn(fields)
    if (token === undefined) return codeProblem
    const { error } = await (await auth()).verifyOtp({ email, token, type: 'email' })
    return error && sentenceOfSignIn(error)
  })
  const again = useForm(async () => {
    const outcome = await askForCode(auth, email)
    if (outcome === 'sent') setSentAgain((count) => count + 1)
    if (outcome === 'no mail') return 'This site no longer sends emails.'
    return typeof outcome === 'string' ? undefined : outcome.sentence
  })
  const others = (
    <>
      <Button isOff={again.isPending} onPress={again.press}>
        Send again
      </Button>
      <Button onPress={onBack}>Another address</Button>
    </>
  )
  return (
    <Step title="Type the code">
      <p className="layout-text">
        If <b>{email}</b> is an organiser’s address, an email with a code is on its way. Its link signs you
        in, too.
      </p>
      <StepForm {...{ form, others }}>
        <CodeField hint="Six digits. It works once." problem={form.problem} takesFocus />
      </StepForm>
      <Problem message="" error={again.error} />
      <output>
        {sentAgain > 0 && !again.problem && (
          <span key={sentAgain} className="session-sent">
            Sent again.
          </span>
        )}
      </output>
    </Step>
  )
}

/** Requests an email with a code. If a hosted project reports that the address has no account, this still returns `sent`. */
async function askForCode(auth: LoadAuth, email: string): Promise<'sent' | 'no mail' | { sentence: string }> {
  const { error } = await (await auth()).signInWithOtp({ email, options: { shouldCreateUser: false } })
  if (error === null || error.code === 'otp_disabled' || error.code === 'signup_disabled') return 'sent'
  if (error.code === 'email_provider_disabled') return 'no mail'
  return { sentence: sentenceOfSignIn(error) }
}
