import { useRef, useState, useTransition, type FormEvent } from 'react'

import { unforeseen } from '../messages.ts'

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

/**
 * Has something sent once at a time, however often it is asked for.
 *
 * @param act What is done; gives why it failed, in a sentence, where it did.
 */
export function useSending(act: (fields: FormData) => Promise<string | undefined>): Sending {
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
