import { useCallback, useEffect, useRef, useState } from 'react'

import { newAct } from '../../../client/act.ts'

const pending = new Set<AbortController>()

/** Whether an act is pending that would be lost with the page. */
export function isActing(): boolean {
  return pending.size > 0
}

interface ActState<Given, Response> {
  isPending: boolean
  error: Error | null
  /** The last response, and the values that the act was done with. */
  response?: Response
  given?: Given
}

/** What came of an act, and who sees it: where it was cancelled, nobody wants to know. */
type Outcome<Response> = { isShown: boolean; isCancelled: boolean } & (
  | { error: Error; response?: undefined }
  | { error: null; response: Response }
)

interface ActOptions<Given, Response> {
  /** Called while its screen is shown. */
  onSuccess?: ((response: Response, given: Given) => unknown) | undefined
  /** Called after a success and a failure. Of one that was cancelled nobody knows whether it happened. */
  onOutcome?: ((outcome: Outcome<Response>, given: Given, id: string) => unknown) | undefined
  /** If pressed again while it is pending, does it once more afterwards with the latest values. */
  keepsLast?: boolean | undefined
  /** Whether it goes on when its screen is left. */
  outlivesScreen?: boolean | undefined
}

/** What a button or a form does. */
export interface Act<Given, Response> extends ActState<Given, Response> {
  /** Does it, unless it is pending: a second press can come before the first one is rendered. */
  press: (given: Given) => void
  /** Ends it where it has not happened yet, and forgets what came of it. */
  cancel: () => void
}

/**
 * Something that an organiser does: once at a time, at once or not at all, and never after it was cancelled. What came of it
 * is said as soon as it is known.
 *
 * @param run Does it, for as long as the signal lets it. The act's id is the same one where the same is done
 *   again after a failure.
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
