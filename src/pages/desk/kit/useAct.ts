import { useCallback, useEffect, useRef, useState } from 'react'

import { newAct } from '../../../client/act.ts'

const pending = new Set<AbortController>()

/** Whether an act is pending that closing the page would lose. */
export function isActing(): boolean {
  return pending.size > 0
}

interface ActState<Given, Response> {
  isPending: boolean
  error: Error | null
  /** The last response, and the arguments of the last act. */
  response?: Response
  given?: Given
}

/** The outcome of an act. `isShown`: its screen is still open. `isCancelled`: it needs no announcement. */
type Outcome<Response> = { isShown: boolean; isCancelled: boolean } & (
  | { error: Error; response?: undefined }
  | { error: null; response: Response }
)

interface ActOptions<Given, Response> {
  /** Called only while its screen is open. */
  onSuccess?: ((response: Response, given: Given) => unknown) | undefined
  /** Called after every success and failure. The result of a cancelled act is unknown. */
  onOutcome?: ((outcome: Outcome<Response>, given: Given, id: string) => unknown) | undefined
  /** If pressed again while pending, runs once more afterwards with the latest values. */
  keepsLast?: boolean | undefined
  /** Whether it continues after its screen is closed. */
  outlivesScreen?: boolean | undefined
}

/** An act that a button or a form performs. */
export interface Act<Given, Response> extends ActState<Given, Response> {
  /** Starts it, unless it is pending: a second press can come before React renders the first one. */
  press: (given: Given) => void
  /** Aborts it and forgets its result. */
  cancel: () => void
}

/**
 * An act of the organiser: one run at a time, and silent after it was cancelled.
 *
 * @param run Performs the act until the signal aborts. A retry with the same arguments after a failure gets the same act id.
 * @returns The state of the act, and the functions that start and cancel it.
 */
export function useAct<Given, Response>(
  run: (given: Given, signal: AbortSignal, id: () => string) => Promise<Response>,
  { onSuccess, onOutcome, keepsLast = false, outlivesScreen = false }: ActOptions<Given, Response> = {},
): Act<Given, Response> {
  const [state, setState] = useState<ActState<Given, Response>>({ isPending: false, error: null })
  const running = useRef<AbortController>(null)
  const isShown = useRef(true)
  const waiting = useRef<{ given: Given }>(null)
  const latest = useRef({ given: '', id: '' })

  const perform = async (given: Given, own: AbortController) => {
    const idOf = () => {
      const text = JSON.stringify(given)
      if (latest.current.id === '' || latest.current.given !== text)
        latest.current = { given: text, id: newAct() }
      return latest.current.id
    }
    pending.add(own)
    const outcome = await run(given, own.signal, idOf).then(
      (response) => ({ error: null, response }),
      (error: unknown) => ({
        error: error instanceof Error ? error : new Error(String(error), { cause: error }),
      }),
    )
    pending.delete(own)
    const { id } = latest.current
    if (outcome.error === null) latest.current.id = ''
    const isCancelled = running.current !== own
    if (!isCancelled) {
      running.current = null
      setState({ isPending: false, given, ...outcome })
    }
    if (outcome.error === null && isShown.current && !isCancelled) onSuccess?.(outcome.response, given)
    onOutcome?.({ ...outcome, isShown: isShown.current, isCancelled }, given, id)
    const next = waiting.current
    waiting.current = null
    if (next !== null && !isCancelled) press(next.given)
  }
  const cancel = useCallback(() => {
    running.current?.abort()
    running.current = null
    waiting.current = null
    latest.current.id = ''
    setState({ isPending: false, error: null })
  }, [])
  useEffect(() => {
    isShown.current = true
    return () => {
      isShown.current = false
      if (!outlivesScreen) running.current?.abort()
    }
  }, [outlivesScreen])
  function press(given: Given) {
    if (running.current !== null) {
      if (!keepsLast) return
      waiting.current = { given }
      setState((former) => ({ ...former, given }))
      return
    }
    const own = new AbortController()
    running.current = own
    setState({ isPending: true, error: null, given })
    void perform(given, own)
  }
  return { ...state, press, cancel }
}
