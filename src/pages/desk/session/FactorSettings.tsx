import type { AuthMFAEnrollTOTPResponse, Factor, GoTrueClient } from '@supabase/auth-js'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { announce } from '../announcement.ts'
import { NewFactor } from './NewFactor.tsx'
import { sentenceOfFactor } from './sentences.ts'
import { useSending, type AsMe } from './use-sending.ts'

const queryKey = ['account', 'factors']

type Enrolled = NonNullable<AuthMFAEnrollTOTPResponse['data']>

/** The second factor: switched on with an authenticator app, and off. */
export function FactorSettings({ auth, asMe }: { auth: GoTrueClient; asMe: AsMe }) {
  const queries = useQueryClient()
  const [enrolled, setEnrolled] = useState<Enrolled>()
  const { data: factors, error } = useQuery({ queryKey, queryFn: () => listFactors(auth) })
  const verified = factors?.filter(({ status }) => status === 'verified') ?? []

  const finish = async (sentence: string) => {
    await queries.invalidateQueries({ queryKey })
    setEnrolled(undefined)
    announce(sentence)
  }
  const begin = useSending(
    asMe(async () => {
      await removeHalfMade(auth)
      const { data, error: refused } = await auth.mfa.enroll({ factorType: 'totp' })
      if (refused) return sentenceOfFactor(refused)
      setEnrolled(data)
      return undefined
    }),
  )
  const remove = useSending(
    asMe(async () => {
      for (const { id } of verified) {
        const { error: refused } = await auth.mfa.unenroll({ factorId: id })
        if (refused) return sentenceOfFactor(refused)
      }
      // The token still says that there was one.
      await auth.refreshSession()
      await finish('The second factor is off.')
      return undefined
    }),
  )
  const problem = error?.message ?? (begin.problem || remove.problem)

  return (
    <section className="sheet" aria-labelledby="factor">
      <h2 id="factor">Second factor</h2>
      {enrolled ? (
        <NewFactor
          auth={auth}
          factor={enrolled}
          onVerified={() => finish('The second factor is on.')}
          onCancel={async () => {
            await auth.mfa.unenroll({ factorId: enrolled.id })
            setEnrolled(undefined)
            return undefined
          }}
        />
      ) : (
        factors && <State isOn={verified.length > 0} {...{ begin, remove }} />
      )}
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  )
}

interface StateProps {
  isOn: boolean
  begin: ReturnType<typeof useSending>
  remove: ReturnType<typeof useSending>
}

function State({ isOn, begin, remove }: StateProps) {
  return isOn ? (
    <>
      <p>It is on: after the mail, signing in asks for the code that your authenticator app shows.</p>
      <button className="quiet" disabled={remove.isUnderWay} onClick={remove.press}>
        {remove.isUnderWay ? 'Switching off…' : 'Switch off'}
      </button>
    </>
  ) : (
    <>
      <p>
        It is off. With it, signing in also asks for a code that an authenticator app on your telephone shows,
        so that your mailbox alone lets nobody in.
      </p>
      <button className="quiet" disabled={begin.isUnderWay} onClick={begin.press}>
        {begin.isUnderWay ? 'One moment…' : 'Set up'}
      </button>
    </>
  )
}

/** All of the account's factors, those that nobody finished to set up included. */
async function listFactors(auth: GoTrueClient): Promise<Factor[]> {
  const { data, error } = await auth.mfa.listFactors()
  if (error) throw new Error(sentenceOfFactor(error), { cause: error })
  return data.all
}

/** One that was begun and left would stand in the way of the next by its name. */
async function removeHalfMade(auth: GoTrueClient) {
  const { data } = await auth.mfa.listFactors()
  for (const { id, status, factor_type: type } of data?.all ?? []) {
    if (status === 'unverified' && type === 'totp') await auth.mfa.unenroll({ factorId: id })
  }
}
