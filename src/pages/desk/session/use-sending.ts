import { isAuthRetryableFetchError, type GoTrueClient } from '@supabase/auth-js'
import { useRef, useState, useTransition, type FormEvent } from 'react'

import { unforeseen } from '../messages.ts'
import { sentenceOfSignIn } from './sentences.ts'

/** A form, or a button, that is sent once at a time. */
export interface Sending {
  /** Why it failed the last time, in a sentence; empty where it did not. */
  problem: string
  isUnderWay: boolean
  /** Sends what a form holds. */
  send: (event: FormEvent<HTMLFormElement>) => void
  /** Sends what needs no form. */
  press: () => void
}

/** What is done with what a form holds; gives why it failed, in a sentence, where it did. */
type Act = (fields: FormData) => Promise<string | undefined>

/** Has something done as whoever is at the desk, or not at all. */
export type AsMe = (act: Act) => Act

/**
 * Guards what the sign-in's own client does, which acts as whoever signed in last, also in another window.
 *
 * @param onLeft Called in place of the act where that is not the owner of this account.
 */
export function onlyAs(account: string, auth: GoTrueClient, onLeft: () => void): AsMe {
  return (act) => async (fields) => {
    const { data, error } = await auth.getSession()
    if (isAuthRetryableFetchError(error)) return sentenceOfSignIn(error)
    if (data.session?.user.id === account) return act(fields)
    onLeft()
    return undefined
  }
}

/** Has something sent once at a time, however often it is asked for. */
export function useSending(act: Act): Sending {
  const [problem, setProblem] = useState('')
  const [isUnderWay, begin] = useTransition()
  const inFlight = useRef(false)

  const run = (form?: HTMLFormElement) => {
    // A second press can come before the first one is rendered.
    if (inFlight.current) return
    inFlight.current = true
    // The same sentence again is to be heard again.
    setProblem('')
    const fields = new FormData(form)
    begin(async () => {
      const failure = await act(fields).catch(unforeseen)
      inFlight.current = false
      setProblem(failure ?? '')
      const [first] = form?.querySelectorAll('input') ?? []
      if (failure) first?.focus()
      if (failure) first?.select()
    })
  }
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    run(event.currentTarget)
  }
  return { problem, isUnderWay, send, press: () => run() }
}
