import { isRetryable } from '../../../client/auth-errors.ts'
import type { LoadAuth } from '../../../client/session.ts'
import { sentenceOfSignIn } from './sentences.ts'
import type { Send } from './useForm.ts'

/** Wraps a function so that it runs only while the organiser who is at the desk is signed in. */
export type AsMe = (send: Send) => Send

/**
 * Guards calls of the auth client, which acts as the last person who signed in, even in another window.
 *
 * @param account The account that the calls are meant for.
 * @param onOtherAccount Called instead of the function if another account, or none, is signed in.
 */
export function asAccount(account: string, auth: LoadAuth, onOtherAccount: () => void): AsMe {
  return (send) => async (fields) => {
    const { data, error } = await (await auth()).getSession()
    if (isRetryable(error)) return sentenceOfSignIn(error)
    if (data.session?.user.id === account) return send(fields)
    onOtherAccount()
    return undefined
  }
}
