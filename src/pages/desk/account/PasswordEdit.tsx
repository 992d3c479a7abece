import { useState } from 'react'

import type { LoadAuth } from '../../../client/session.ts'
import { announce } from '../kit/announce.tsx'
import { Field } from '../kit/Field.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { sentenceOfPassword } from '../session/sentences.ts'
import { codeIn, CodeField, sixDigits, textIn, useForm, type AsMe } from '../session/useForm.tsx'

interface PasswordEditProps {
  auth: LoadAuth
  email: string
  asMe: AsMe
}

/** Sets or changes the password. In a session that is older than a day it asks for a code of a mail, too. */
export function PasswordEdit({ auth, email, asMe }: PasswordEditProps) {
  const [needsCode, setNeedsCode] = useState(false)
  /** Counts the passwords that were set: after each the form is as at first. */
  const [set, setSet] = useState(0)
  const { problem, isPending, onSubmit } = useForm(
    asMe(async (fields) => {
      const nonce = codeIn(fields)
      if (needsCode && nonce === undefined) return sixDigits
      const { error } = await (
        await auth()
      ).updateUser({
        password: textIn(fields, 'password'),
        ...(nonce !== undefined && { nonce }),
      })
      if (error?.code === 'reauthentication_needed') return askForCode()
      if (error) return sentenceOfPassword(error)
      setNeedsCode(false)
      setSet((count) => count + 1)
      announce('The password is set. Your sessions in other browsers have ended.')
      return undefined
    }),
  )
  const askForCode = async () => {
    const { error } = await (await auth()).reauthenticate()
    if (error) return sentenceOfPassword(error)
    setNeedsCode(true)
    return undefined
  }
  return (
    <Sheet title="Password">
      <p>
        With a password you sign in without a mail. Setting one takes the place of the one before, and ends
        your sessions in other browsers.
      </p>
      <form key={set} onSubmit={onSubmit}>
        {/* By this a browser knows whose password it is asked to keep. */}
        <input hidden readOnly autoComplete="username" value={email} />
        <Field
          label="New password"
          name="password"
          type="password"
          autoComplete="new-password"
          required
          hint="At least six characters."
          problem={needsCode ? '' : problem}
        />
        {needsCode && (
          <CodeField
            hint={`You signed in more than a day ago, so a mail with a code is on its way to ${email}.`}
            problem={problem}
            isFirst
          />
        )}
        <button className="quiet" disabled={isPending}>
          {isPending ? 'One moment…' : 'Set password'}
        </button>
      </form>
    </Sheet>
  )
}
