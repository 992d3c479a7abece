import type { EmailOtpType } from '@supabase/auth-js'
import { useState } from 'react'

import { isUnanswered } from '../../../client/auth-errors.ts'
import type { LoadAuth } from '../../../client/session.ts'
import { focus } from '../kit/focus.ts'
import { go, useFragment, wholeList } from '../kit/route.ts'
import { sentenceOfSignIn, type Notice } from './sentences.ts'
import { Said, Step } from './Step.tsx'
import { useForm } from './useForm.tsx'

/** A session that a hosted project's link brought in the fragment, and that nobody has confirmed by a button yet. */
export interface BroughtSession {
  access_token: string
  refresh_token: string
}

/** What such a link brought: a session, or the reason why there is none. */
type Arrival = { session: BroughtSession } | { notice: Notice }

/** A link to the desk that has not been used up yet. */
interface SignInLink {
  token_hash: string
  type: EmailOtpType
}

const linkDidNotWork: Notice = {
  isProblem: true,
  text: 'Signing in by this link did not work. Please ask for a code instead.',
}

const linkHasEnded: Notice = {
  isProblem: true,
  text: 'This link was used already, or its time is over. Please ask for a code instead.',
}

/** Said when one of the two links of a change of address was used. */
const halfConfirmed: Notice = {
  isProblem: false,
  text: 'This address is confirmed. Please open the link in the mail to the other address, too.',
}

/**
 * Reads what a link brought and removes it from the address, so that no token stays there or in the browser's history.
 *
 * @param isHosted Whether organisers sign in at a hosted project. Our own server's links bring no session: a session in the
 *   address was then put there by somebody who wants others to act as them.
 */
export function takeArrival(isHosted: boolean): Arrival | undefined {
  const arrival = arrivalIn(location.hash)
  if (arrival) go(wholeList, { replace: true })
  return arrival && 'session' in arrival && !isHosted ? { notice: linkDidNotWork } : arrival
}

/** Reads what a fragment brings, if anything. Its own words are not shown, since anybody can write a link. */
function arrivalIn(fragment: string): Arrival | undefined {
  const said = new URLSearchParams(fragment.replace(/^#/, ''))
  const [access_token, refresh_token] = [said.get('access_token'), said.get('refresh_token')]
  if (access_token && refresh_token) return { session: { access_token, refresh_token } }
  if (said.get('error_code') === 'otp_expired') return { notice: linkHasEnded }
  if (said.has('error') || said.has('error_code')) return { notice: linkDidNotWork }
  if (said.has('message') && said.has('sb')) return { notice: halfConfirmed }
  return undefined
}

/** The link that opened the desk, as long as it is in the address. */
export function useSignInLink(): SignInLink | undefined {
  const said = new URLSearchParams(useFragment().replace(/^#/, ''))
  const [token_hash, type] = [said.get('token_hash'), said.get('type')]
  return token_hash && type ? { token_hash, type } : undefined
}

interface SignInByLinkProps {
  auth: LoadAuth
  link: SignInLink | BroughtSession
  /** Called when the link is used up or not valid. */
  onLeave: () => void
}

/**
 * What a link opens. A button uses it up, since programs that look through mails open links, too, and since a stranger may send
 * a link with a session of their own, to have others act as them.
 */
export function SignInByLink({ auth, link, onLeave }: SignInByLinkProps) {
  /** What is said once it is used up. */
  const [end, setEnd] = useState<Notice>()
  const leave = () => {
    onLeave()
    go(wholeList, { replace: true })
  }
  const { problem, isPending, press } = useForm(async () => {
    const isBrought = 'access_token' in link
    const client = await auth()
    const { data, error } = isBrought ? await client.setSession(link) : await client.verifyOtp(link)
    const hasEnded = isBrought ? !isUnanswered(error) : error?.code === 'otp_expired'
    if (error && !hasEnded) return sentenceOfSignIn(error)
    if (error) setEnd(linkHasEnded)
    else if (data.session === null) setEnd(halfConfirmed)
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
  if (end) {
    return (
      <Step title={words.title} notice={end}>
        <button ref={focus} onClick={leave}>
          {end.isProblem ? 'Get a code by mail' : 'Go to the desk'}
        </button>
      </Step>
    )
  }
  return (
    <Step title={words.title}>
      {problem && <Said text={problem} isProblem />}
      <p id="about-link">{words.about}</p>
      <button ref={focus} aria-describedby="about-link" disabled={isPending} onClick={press}>
        {isPending ? 'One moment…' : words.button}
      </button>
    </Step>
  )
}
