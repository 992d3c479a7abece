import { useState } from 'react'

import { isRetryable } from '../../../client/auth-errors.ts'
import type { LoadAuth } from '../../../client/session.ts'
import { focus } from '../kit/focus.ts'
import { go, unfilteredList } from '../data/route.ts'
import { notices, type Notice } from './notices.ts'
import { sentenceOfSignIn } from './sentences.ts'
import type { LinkSession, SignInLink } from './sign-in-link.ts'
import { NoticeBox, Step } from './Step.tsx'
import { useForm } from './useForm.ts'

interface SignInByLinkProps {
  auth: LoadAuth
  link: SignInLink | LinkSession
  /** Called when the organiser leaves this page, after the link was used or found invalid. */
  onLeave: () => void
}

/**
 * The page that a link opens. Only its button uses the link: email scanners open links too. A stranger could also send a link
 * with their own session, to make others act as them.
 */
export function SignInByLink({ auth, link, onLeave }: SignInByLinkProps) {
  /** The notice after the link was used or found invalid. */
  const [endNotice, setEndNotice] = useState<Notice>()
  const leave = () => {
    onLeave()
    go(unfilteredList, { replace: true })
  }
  const { problem, isPending, press } = useForm(async () => {
    const isLinkSession = 'refresh_token' in link
    const client = await auth()
    // `setSession` would compare the expiry of the link's token with this device's clock.
    const { data, error } = isLinkSession ? await client.refreshSession(link) : await client.verifyOtp(link)
    const hasEnded = isLinkSession ? !isRetryable(error) : error?.code === 'otp_expired'
    if (error && !hasEnded) return sentenceOfSignIn(error)
    if (error) setEndNotice('link used')
    else if (data.session === null) setEndNotice('address confirmed')
    else leave()
    return undefined
  })
  const isChange = 'type' in link && link.type === 'email_change'
  const words = isChange
    ? { title: 'Confirm the address', about: 'Press the button to confirm this address.', button: 'Confirm' }
    : {
        title: 'Sign in',
        about: 'Press the button to sign in by your link. It works once.',
        button: 'Sign in',
      }
  if (endNotice) {
    return (
      <Step title={words.title} notice={endNotice}>
        <button ref={focus} onClick={leave}>
          {notices[endNotice].isProblem ? 'Get a code by email' : 'Go to the desk'}
        </button>
      </Step>
    )
  }
  return (
    <Step title={words.title}>
      {problem && <NoticeBox text={problem} isProblem />}
      <p id="about-link" className="layout-text">
        {words.about}
      </p>
      <button ref={focus} aria-describedby="about-link" aria-disabled={isPending} onClick={press}>
        {isPending ? 'One moment…' : words.button}
      </button>
    </Step>
  )
}
