import type { GoTrueClient } from '@supabase/auth-js'
import { useState } from 'react'

import { navigate } from '../fragment.ts'
import { halfConfirmed, type SignInLink } from './arrival.ts'
import { focus } from './Field.tsx'
import { linkHasEnded, sentenceOfSignIn } from './sentences.ts'
import { Said, Step } from './Step.tsx'
import { useSending } from './use-sending.ts'

/** What a link opens. It is used up when its button is pressed: programs that look through mails open links, too. */
export function SignInByLink({ auth, link }: { auth: GoTrueClient; link: SignInLink }) {
  const [state, setState] = useState<'fresh' | 'ended' | 'half confirmed'>('fresh')
  const { problem, isUnderWay, press } = useSending(async () => {
    const { data, error } = await auth.verifyOtp(link)
    if (error && error.code !== 'otp_expired') return sentenceOfSignIn(error)
    if (error) setState('ended')
    else if (data.session === null) setState('half confirmed')
    else navigate('/', { replace: true })
    return undefined
  })
  const isChange = link.type === 'email_change'
  const words = isChange
    ? { title: 'Confirm the address', about: 'Press the button to confirm this address.', button: 'Confirm' }
    : {
        title: 'Sign in',
        about: 'Press the button to sign in by your link. It works once.',
        button: 'Sign in',
      }
  if (state !== 'fresh') {
    return (
      <Step title={words.title}>
        <Said text={state === 'ended' ? linkHasEnded : halfConfirmed} isProblem={state === 'ended'} />
        <button ref={focus} onClick={() => navigate('/', { replace: true })}>
          {state === 'ended' ? 'Get a code by mail' : 'Go to the desk'}
        </button>
      </Step>
    )
  }
  return (
    <Step title={words.title}>
      {problem && <Said text={problem} isProblem />}
      <p id="about-link">{words.about}</p>
      <button ref={focus} aria-describedby="about-link" disabled={isUnderWay} onClick={press}>
        {isUnderWay ? 'One moment…' : words.button}
      </button>
    </Step>
  )
}
