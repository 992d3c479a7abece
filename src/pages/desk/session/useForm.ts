import type { FormEvent } from 'react'

import { reportUnexpected } from '../kit/Problem.tsx'
import { useAct } from '../kit/useAct.ts'

/** Sends a form's values. Returns a sentence if it failed. */
export type Send = (fields: FormData) => Promise<string | null | undefined | void>

/** A form or a button of the sign-in. */
export interface FormState {
  /** The last failure, as an error and as a sentence; null and blank without one. */
  error: Error | null
  problem: string
  isPending: boolean
  /** Sends the values of a form. */
  onSubmit: (event: FormEvent<HTMLFormElement>) => void
  /** Sends without a form. */
  press: () => void
}

/** Runs `send` for a form or a button, one call at a time. After a failure, the field that shows the problem gets the focus. */
export function useForm(send: Send): FormState {
  const { error, isPending, press } = useAct(async (form: HTMLFormElement | undefined) => {
    const failure = await send(new FormData(form)).catch(reportUnexpected)
    if (typeof failure !== 'string') return
    const field = form?.querySelector<HTMLInputElement>('[aria-invalid]')
    field?.focus()
    field?.select()
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

/** The text of a field; blank if there is no such field. */
export function textIn(fields: FormData, name: string): string {
  const text = fields.get(name)
  return typeof text === 'string' ? text : ''
}
