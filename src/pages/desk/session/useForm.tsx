import type { FormEvent } from 'react'

import { isUnanswered } from '../../../client/auth-errors.ts'
import type { LoadAuth } from '../../../client/session.ts'
import { Button } from '../kit/Button.tsx'
import { Field, type FieldProps } from '../kit/Field.tsx'
import { Problem, unforeseen } from '../kit/Problem.tsx'
import { useAct } from '../kit/useAct.ts'
import { sentenceOfSignIn } from './sentences.ts'
import type { WatchedSession } from './watch-session.ts'

/** Sends a form's values. Gives a sentence that says why it failed, where it did. */
type Send = (fields: FormData) => Promise<string | null | undefined | void>

/** Does something as the person who is at the desk, or not at all. */
export type AsMe = (send: Send) => Send

/**
 * Guards calls of the sign-in's own client, which acts as the person who signed in last, also in another window.
 *
 * @param onLeft Called in place of the act where that person is not the owner of this account.
 */
export function onlyAs(account: string, auth: LoadAuth, onLeft: () => void): AsMe {
  return (send) => async (fields) => {
    const { data, error } = await (await auth()).getSession()
    if (isUnanswered(error)) return sentenceOfSignIn(error)
    if (data.session?.user.id === account) return send(fields)
    onLeft()
    return undefined
  }
}

/** A form, or a button, of the sign-in. */
export interface Form {
  /** Why it failed the last time, as an error and as a sentence; the sentence is empty where it did not fail. */
  error: Error | null
  problem: string
  isPending: boolean
  /** Sends what a form holds. */
  onSubmit: (event: FormEvent<HTMLFormElement>) => void
  /** Sends what needs no form. */
  press: () => void
}

/** Sends something to the sign-in, one call at a time. */
export function useForm(send: Send): Form {
  const { error, isPending, press } = useAct(async (form: HTMLFormElement | undefined) => {
    const failure = await send(new FormData(form)).catch(unforeseen)
    if (typeof failure !== 'string') return
    const [first] = form?.querySelectorAll('input') ?? []
    first?.focus()
    first?.select()
    throw new Error(failure)
  })
  return {
    error,
    problem: error?.message ?? '',
    isPending,
    onSubmit(event) {
      event.preventDefault()
      press(event.currentTarget)
    },
    press: () => press(undefined),
  }
}

/** Ends this session. Where that fails it says so, since the session is still valid then. */
export function SignOutButton({ session }: { session: Pick<WatchedSession, 'signOut'> }) {
  const { error, isPending, press } = useForm(() => session.signOut('local'))
  return (
    <>
      <Button disabled={isPending} onPress={press}>
        Sign out
      </Button>
      <Problem said="" error={error} />
    </>
  )
}

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

/** The code that was typed or pasted, without other characters between its digits; nothing where it cannot be a code. */
export function codeIn(fields: FormData): string | undefined {
  const code = textIn(fields, 'code').replace(/[\s-]/g, '')
  // A hosted project may make longer ones.
  return /^\d{6,10}$/.test(code) ? code : undefined
}

/** The text in a field. */
export function textIn(fields: FormData, name: string): string {
  const text = fields.get(name)
  return typeof text === 'string' ? text : ''
}

export const sixDigits = 'A code has six digits. Please check it.'
