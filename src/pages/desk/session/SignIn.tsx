import { useEffect, useState } from 'react'

import type { LoadAuth } from '../../../client/session.ts'
import { Field } from '../kit/Field.tsx'
import { Problem } from '../kit/Problem.tsx'
import { pressHeld } from './held-press.ts'
import { sentenceOfFactor, sentenceOfSignIn, type Notice } from './sentences.ts'
import { SignOutButton } from './SignOutButton.tsx'
import { Step } from './Step.tsx'
import { CodeField, codeIn, sixDigits, textIn, useForm } from './useForm.tsx'
import type { WatchedSession } from './watch-session.ts'

interface SignInProps {
  auth: LoadAuth
  /** The notice above the first field. */
  notice: Notice | undefined
}

/** Signing in by a mail: first the address, then the code; or by a password. */
export function SignIn({ auth, notice }: SignInProps) {
  const [{ email, step }, go] = useState<{ email: string; step: 'email' | 'code' | 'password' }>({
    email: '',
    step: 'email',
  })
  useEffect(pressHeld, [])
  const onBack = () => go({ email, step: 'email' })
  if (step === 'code') return <CodeForm auth={auth} email={email} onBack={onBack} />
  if (step === 'password') return <PasswordForm auth={auth} onBack={onBack} />
  return (
    <EmailForm
      auth={auth}
      notice={email === '' ? notice : undefined}
      email={email}
      onSent={(to) => go({ email: to, step: 'code' })}
      onPassword={() => go({ email, step: 'password' })}
    />
  )
}

function PasswordForm({ auth, onBack }: { auth: LoadAuth; onBack: () => void }) {
  const { problem, isPending, onSubmit } = useForm(async (fields) => {
    const { error } = await (
      await auth()
    ).signInWithPassword({
      email: textIn(fields, 'email').trim(),
      password: textIn(fields, 'password'),
    })
    return error ? sentenceOfSignIn(error) : undefined
  })
  return (
    <Step title="Sign in">
      <form onSubmit={onSubmit}>
        <Field label="Email" name="email" type="email" autoComplete="username" required isFirst />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          problem={problem}
        />
        <button disabled={isPending}>{isPending ? 'Signing in…' : 'Sign in'}</button>
      </form>
      <div className="row others">
        <button type="button" className="quiet" onClick={onBack}>
          Use a code
        </button>
      </div>
    </Step>
  )
}

interface EmailFormProps extends SignInProps {
  email: string
  onSent: (email: string) => void
  onPassword: () => void
}

function EmailForm({ auth, notice, email: former, onSent, onPassword }: EmailFormProps) {
  /** The address for which the operator has to be asked, since no mail goes out. */
  const [unmailed, setUnmailed] = useState('')
  const { problem, isPending, onSubmit } = useForm(async (fields) => {
    const email = textIn(fields, 'email').trim()
    const answer = await askForCode(auth, email)
    setUnmailed(answer === 'no mail' ? email : '')
    if (answer === 'sent') onSent(email)
    return typeof answer === 'string' ? undefined : answer.sentence
  })
  return (
    <Step title="Sign in" notice={unmailed === '' && problem === '' ? notice : undefined}>
      {unmailed !== '' && <AskOperator email={unmailed} />}
      <form onSubmit={onSubmit}>
        <Field
          label="Email"
          name="email"
          type="email"
          autoComplete="email"
          required
          defaultValue={former}
          problem={problem}
          isFirst
        />
        <button disabled={isPending}>{isPending ? 'Sending…' : 'Send code'}</button>
      </form>
      <div className="row others">
        <button type="button" className="quiet" onClick={onPassword}>
          Use a password
        </button>
      </div>
    </Step>
  )
}

function AskOperator({ email }: { email: string }) {
  return (
    <div className="notice error" role="alert">
      <p>
        No mails go out from here. Please ask whoever runs this site for a link to sign in. They get one by
        this command:
      </p>
      <p>
        <code>
          npm run organisers -- <span className="whole">--link</span> {email}
        </code>
      </p>
    </div>
  )
}

function CodeForm({ auth, email, onBack }: { auth: LoadAuth; email: string; onBack: () => void }) {
  const [sentAgain, setSentAgain] = useState(0)
  const signIn = useForm(async (fields) => {
    const token = codeIn(fields)
    if (token === undefined) return sixDigits
    const { error } = await (await auth()).verifyOtp({ email, token, type: 'email' })
    return error ? sentenceOfSignIn(error) : undefined
  })
  const again = useForm(async () => {
    const answer = await askForCode(auth, email)
    if (answer === 'sent') setSentAgain((count) => count + 1)
    if (answer === 'no mail') return 'No mails go out from here any more.'
    return typeof answer === 'string' ? undefined : answer.sentence
  })
  return (
    <Step title="Type the code">
      <p>
        If <b>{email}</b> is an organiser’s address, a mail with a code is on its way. Its link signs in, too.
      </p>
      <form onSubmit={signIn.onSubmit}>
        <CodeField hint="Six digits, good once." problem={signIn.problem} isFirst />
        <button disabled={signIn.isPending}>{signIn.isPending ? 'Signing in…' : 'Sign in'}</button>
      </form>
      <div className="row others">
        <button type="button" className="quiet" disabled={again.isPending} onClick={again.press}>
          Send again
        </button>
        <button type="button" className="quiet" onClick={onBack}>
          Another address
        </button>
      </div>
      <Problem error={again.error} />
      <output>{sentAgain > 0 && !again.problem && <span key={sentAgain}>It was sent again.</span>}</output>
    </Step>
  )
}

/**
 * Asks for a mail. A hosted project says of an address that it has no account; here that is answered as if it had one.
 */
async function askForCode(auth: LoadAuth, email: string): Promise<'sent' | 'no mail' | { sentence: string }> {
  const { error } = await (await auth()).signInWithOtp({ email, options: { shouldCreateUser: false } })
  if (error === null || error.code === 'otp_disabled' || error.code === 'signup_disabled') return 'sent'
  if (error.code === 'email_provider_disabled') return 'no mail'
  return { sentence: sentenceOfSignIn(error) }
}

/** The second step of signing in, where the account has one: a code by time. */
export function SecondFactor({ auth, session }: { auth: LoadAuth; session: WatchedSession }) {
  const { problem, isPending, onSubmit } = useForm(async (fields) => {
    const code = codeIn(fields)
    return code === undefined ? sixDigits : tryCode(auth, code)
  })
  return (
    <Step title="Second factor">
      <form onSubmit={onSubmit}>
        <CodeField hint="The six digits that your authenticator app shows now." problem={problem} isFirst />
        <button disabled={isPending}>{isPending ? 'Signing in…' : 'Sign in'}</button>
      </form>
      <div className="row others">
        <SignOutButton session={session} />
      </div>
    </Step>
  )
}

/** Tries the code with each authenticator of the account; gives why none took it. */
async function tryCode(auth: LoadAuth, code: string): Promise<string | undefined> {
  const { data, error } = await (await auth()).mfa.listFactors()
  if (error) return sentenceOfFactor(error)
  if (data.totp.length === 0) {
    // It was removed meanwhile, which a new token says; or it is of a kind that the desk cannot ask for.
    const refreshed = await (await auth()).refreshSession()
    if (refreshed.error) return sentenceOfFactor(refreshed.error)
    return data.phone.length + data.webauthn.length > 0
      ? 'The desk asks for codes of authenticator apps alone, and this account has none.'
      : undefined
  }
  let problem: string | undefined
  for (const { id } of data.totp) {
    const answer = await (await auth()).mfa.challengeAndVerify({ factorId: id, code })
    if (answer.error === null) return undefined
    problem = sentenceOfFactor(answer.error)
    if (answer.error.code !== 'mfa_verification_failed') return problem
  }
  return problem
}
