import type { AuthMFAEnrollTOTPResponse } from '@supabase/auth-js'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'

import type { LoadAuth } from '../../../client/session.ts'
import { Button } from '../kit/Button.tsx'
import { announce } from '../kit/announce.tsx'
import { useOnHidden } from '../kit/focus.ts'
import { Problem } from '../kit/Problem.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { sentenceOfFactor } from '../session/account-sentences.ts'
import type { AsMe } from '../session/as-account.ts'
import { codeIn } from '../session/code-in.ts'
import { CodeField, codeProblem } from '../session/CodeField.tsx'
import { useForm } from '../session/useForm.ts'

/** The props of the parts that change the account. */
export interface AccountPartProps {
  auth: LoadAuth
  asMe: AsMe
}

type NewFactor = NonNullable<AuthMFAEnrollTOTPResponse['data']>

/** The section that turns the second factor on and off. */
export function FactorEdit({ auth, asMe }: AccountPartProps) {
  const queries = useQueryClient()
  const queryKey = ['account', 'factors']
  const [newFactor, setNewFactor] = useState<NewFactor>()
  const button = useRef<HTMLButtonElement>(null)
  useOnHidden(newFactor !== undefined, () => button.current?.focus())
  const { data: verifiedIds, error } = useQuery({ queryKey, queryFn: () => readVerifiedIds(auth) })

  /** Shows the new state at once: reading it again may take long, or fail. */
  const finish = (sentence: string, ids: string[]) => {
    queries.setQueryData(queryKey, ids)
    void queries.invalidateQueries({ queryKey })
    setNewFactor(undefined)
    announce(sentence)
  }
  const begin = useForm(
    asMe(async () => {
      const { mfa } = await auth()
      // Removes unfinished factors, because a new factor cannot have the same name.
      const { data: former } = await mfa.listFactors()
      for (const { id, status, factor_type: type } of former?.all ?? []) {
        if (status === 'unverified' && type === 'totp') await mfa.unenroll({ factorId: id })
      }
      const { data, error: refused } = await mfa.enroll({ factorType: 'totp' })
      if (refused) return sentenceOfFactor(refused)
      setNewFactor(data)
      return undefined
    }),
  )
  const remove = useForm(
    asMe(async () => {
      const client = await auth()
      for (const factorId of verifiedIds ?? []) {
        const { error: refused } = await client.mfa.unenroll({ factorId })
        if (refused) return sentenceOfFactor(refused)
      }
      // The claims of the old token still say that a second factor was used.
      await client.refreshSession()
      return finish('The second factor is off.', [])
    }),
  )
  const isOn = verifiedIds !== undefined && verifiedIds.length > 0
  const words = isOn
    ? {
        about: 'It is on. After the emailed code, you also enter a code from your authenticator app.',
        button: 'Switch off',
      }
    : {
        about:
          'It is off. With it, signing in also asks for a code from an app on your phone, so access to your mailbox is not enough.',
        button: 'Set up',
      }
  const { isPending, press } = isOn ? remove : begin
  return (
    <Sheet title="Second factor">
      {newFactor ? (
        <FactorVerify
          auth={auth}
          factor={newFactor}
          onVerified={() => finish('The second factor is on.', [newFactor.id])}
          onCancelled={() => setNewFactor(undefined)}
        />
      ) : (
        verifiedIds && (
          <>
            <p className="layout-text">{words.about}</p>
            <Button ref={button} isPending={isPending} onPress={press}>
              {words.button}
            </Button>
          </>
        )
      )}
      <Problem message="" error={error ?? begin.error ?? remove.error} />
    </Sheet>
  )
}

interface FactorVerifyProps extends Pick<AccountPartProps, 'auth'> {
  factor: NewFactor
  onVerified: () => void
  onCancelled: () => void
}

/** A second factor being set up: its secret for the app, and a field for the first code. */
function FactorVerify({ auth, factor: { id, totp }, onVerified, onCancelled }: FactorVerifyProps) {
  const verify = useForm(async (fields) => {
    const code = codeIn(fields)
    if (code === undefined) return codeProblem
    const { error } = await (await auth()).mfa.challengeAndVerify({ factorId: id, code })
    return error ? sentenceOfFactor(error) : onVerified()
  })
  const cancel = useForm(async () => {
    await (await auth()).mfa.unenroll({ factorId: id })
    onCancelled()
  })
  return (
    <div className="account-factor">
      <img src={totp.qr_code} alt="A QR code with the secret shown beside it" width="192" height="192" />
      <div>
        <p className="layout-text">
          Scan this with your authenticator app, or{' '}
          <a className="account-link" href={totp.uri}>
            open it in the app on this device
          </a>
          , or type this secret:
        </p>
        <p className="layout-text">
          <code className="account-secret">{totp.secret}</code>
        </p>
        <p className="layout-text">
          Then type the code that the app shows. This ends your sessions in other browsers.
        </p>
        <form onSubmit={verify.onSubmit}>
          <CodeField problem={verify.problem} takesFocus />
          <div className="layout-row">
            <Button isPending={verify.isPending}>Switch on</Button>
            <Button isPending={cancel.isPending} onPress={cancel.press}>
              Cancel
            </Button>
          </div>
        </form>
      </div>
    </div>
  )
}

/** The ids of the account's factors that work. */
async function readVerifiedIds(auth: LoadAuth): Promise<string[]> {
  const { data, error } = await (await auth()).mfa.listFactors()
  if (error) throw new Error(sentenceOfFactor(error), { cause: error })
  return data.all.filter(({ status }) => status === 'verified').map(({ id }) => id)
}
