import type { AuthMFAEnrollTOTPResponse, Factor } from '@supabase/auth-js'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import type { LoadAuth } from '../../../client/session.ts'
import { announce } from '../kit/announce.tsx'
import { Problem } from '../kit/Problem.tsx'
import { Sheet } from '../kit/Screen.tsx'
import { sentenceOfFactor } from '../session/sentences.ts'
import { codeIn, CodeField, sixDigits, useForm, type AsMe, type Form } from '../session/useForm.tsx'

const queryKey = ['account', 'factors']

type Enrolled = NonNullable<AuthMFAEnrollTOTPResponse['data']>

/** The second factor: switched on with an authenticator app, and off. */
export function FactorEdit({ auth, asMe }: { auth: LoadAuth; asMe: AsMe }) {
  const queries = useQueryClient()
  const [enrolled, setEnrolled] = useState<Enrolled>()
  const { data: factors, error } = useQuery({ queryKey, queryFn: () => listFactors(auth) })
  const verified = factors?.filter(({ status }) => status === 'verified') ?? []

  const finish = async (sentence: string) => {
    await queries.invalidateQueries({ queryKey })
    setEnrolled(undefined)
    announce(sentence)
  }
  const begin = useForm(
    asMe(async () => {
      await removeHalfMade(auth)
      const { data, error: refused } = await (await auth()).mfa.enroll({ factorType: 'totp' })
      if (refused) return sentenceOfFactor(refused)
      setEnrolled(data)
      return undefined
    }),
  )
  const remove = useForm(
    asMe(async () => {
      for (const { id } of verified) {
        const { error: refused } = await (await auth()).mfa.unenroll({ factorId: id })
        if (refused) return sentenceOfFactor(refused)
      }
      // The token still says that there is a second factor.
      await (await auth()).refreshSession()
      await finish('The second factor is off.')
      return undefined
    }),
  )
  return (
    <Sheet title="Second factor">
      {enrolled ? (
        <NewFactor
          auth={auth}
          factor={enrolled}
          onVerified={() => finish('The second factor is on.')}
          onCancel={async () => {
            await (await auth()).mfa.unenroll({ factorId: enrolled.id })
            setEnrolled(undefined)
            return undefined
          }}
        />
      ) : (
        factors && <State isOn={verified.length > 0} {...{ begin, remove }} />
      )}
      <Problem error={error ?? begin.error ?? remove.error} />
    </Sheet>
  )
}

interface StateProps {
  isOn: boolean
  begin: Form
  remove: Form
}

function State({ isOn, begin, remove }: StateProps) {
  return isOn ? (
    <>
      <p>It is on: after the mail, signing in asks for the code that your authenticator app shows.</p>
      <button className="quiet" disabled={remove.isPending} onClick={remove.press}>
        {remove.isPending ? 'Switching off…' : 'Switch off'}
      </button>
    </>
  ) : (
    <>
      <p>
        It is off. With it, signing in also asks for a code that an authenticator app on your telephone shows,
        so that your mailbox alone lets nobody in.
      </p>
      <button className="quiet" disabled={begin.isPending} onClick={begin.press}>
        {begin.isPending ? 'One moment…' : 'Set up'}
      </button>
    </>
  )
}

interface NewFactorProps {
  auth: LoadAuth
  factor: Enrolled
  onVerified: () => Promise<void>
  onCancel: () => Promise<undefined>
}

/** A second factor that is being set up: its secret, for the app, and a field for the app's first code. */
function NewFactor({ auth, factor: { id, totp }, onVerified, onCancel }: NewFactorProps) {
  const verify = useForm(async (fields) => {
    const code = codeIn(fields)
    if (code === undefined) return sixDigits
    const { error } = await (await auth()).mfa.challengeAndVerify({ factorId: id, code })
    if (error) return sentenceOfFactor(error)
    await onVerified()
    return undefined
  })
  const cancel = useForm(onCancel)
  return (
    <div className="new-factor">
      <img
        src={totp.qr_code}
        alt="A QR code with the secret that stands beside it"
        width="192"
        height="192"
      />
      <div>
        <p>
          Scan this with your authenticator app, or <a href={totp.uri}>open it there</a>, or type this secret:
        </p>
        <p>
          <code className="secret">{totp.secret}</code>
        </p>
        <p>
          Then type the code that the app shows. Your sessions in other browsers end, since they began without
          it.
        </p>
        <form onSubmit={verify.onSubmit}>
          <CodeField problem={verify.problem} isFirst />
          <div className="row">
            <button disabled={verify.isPending}>{verify.isPending ? 'One moment…' : 'Switch on'}</button>
            <button type="button" className="quiet" disabled={cancel.isPending} onClick={cancel.press}>
              Cancel
            </button>
          </div>
        </form>
      </div>
    </div>
  )
}

/** All of the account's factors, those that nobody finished to set up included. */
async function listFactors(auth: LoadAuth): Promise<Factor[]> {
  const { data, error } = await (await auth()).mfa.listFactors()
  if (error) throw new Error(sentenceOfFactor(error), { cause: error })
  return data.all
}

/** Removes factors that were begun and not finished: the next one could not have their name. */
async function removeHalfMade(auth: LoadAuth) {
  const { data } = await (await auth()).mfa.listFactors()
  for (const { id, status, factor_type: type } of data?.all ?? []) {
    if (status === 'unverified' && type === 'totp') await (await auth()).mfa.unenroll({ factorId: id })
  }
}
