import { useCallback, useEffect, useRef, useState } from 'react'

/** The pending acts that change something. Closing the page would lose them. */
export const pendingActs = new Set<AbortController>()

interface ActState<Args, Response> {
  isPending: boolean
  error: Error | null
  /** The last response, and the arguments of the last press. */
  response?: Response
  args?: Args
}

/** The outcome of an act. `isOpen`: its screen is still open. `isOutdated`: it was cancelled, or a later press waits for its end. */
type Outcome<Response> = { isOpen: boolean; isOutdated: boolean } & (
  | { error: Error; response?: undefined }
  | { error: null; response: Response }
)

interface ActOptions<Args, Response> {
  /** Called only while its screen is open. */
  onSuccess?: ((response: Response, args: Args) => unknown) | undefined
  /** Called after every success and failure, even of a cancelled act, whose result is unknown. */
  onOutcome?: ((outcome: Outcome<Response>, args: Args) => unknown) | undefined
  /** If pressed again while pending, runs once more afterwards with the latest values. */
  queuesLatest?: boolean | undefined
  /** Whether it continues after its screen is closed, as what changes something does. */
  outlivesScreen?: boolean | undefined
}

/** An act that a button or a form performs. */
export interface Act<Args, Response> extends ActState<Args, Response> {
  /** Starts it, unless it is pending: a second press can happen before React has rendered the first one. */
  press: (args: Args) => void
  /** Aborts it and forgets its result. */
  cancel: () => void
}

/**
 * An act of the organiser, with one run at a time. After it was cancelled, its outcome is not shown.
 *
 * @param run Performs the act until the signal aborts.
 * @returns The state of the act, and the functions that start and cancel it.
 */
export function useAct<Args, Response>(
  run: (args: Args, signal: AbortSignal) => Promise<Response>,
  { onSuccess, onOutcome, queuesLatest = false, outlivesScreen = false }: ActOptions<Args, Response> = {},
): Act<Args, Response> {
  const [state, setState] = useState<ActState<Args, Response>>({ isPending: false, error: null })
  const currentRun = useRef<AbortController>(null)
  const isOpen = useRef(true)
  /** A press during the current run, if `queuesLatest`. */
  const nextCall = useRef<{ args: Args }>(null)

  const perform = async (args: Args, controller: AbortController) => {
    if (outlivesScreen) pendingActs.add(controller)
    const outcome = await run(args, controller.signal).then(
      (response) => ({ error: null, response }),
      (error: unknown) => ({
        error: error instanceof Error ? error : new Error(String(error), { cause: error }),
      }),
    )
    pendingActs.delete(controller)
    const isCancelled = currentRun.current !== controller
    if (!isCancelled) {
      currentRun.current = null
      setState({ isPending: false, args, ...outcome })
    }
    if (outcome.error === null && isOpen.current && !isCancelled) onSuccess?.(outcome.response, args)
    const next = isCancelled ? null : nextCall.current
    onOutcome?.({ ...outcome, isOpen: isOpen.current, isOutdated: isCancelled || next !== null }, args)
    if (next === null) return
    nextCall.current = null
    press(next.args)
  }
  const cancel = useCallback(() => {
    currentRun.current?.abort()
    currentRun.current = null
    nextCall.current = null
    setState({ isPending: false, error: null })
  }, [])
  useEffect(() => {
    isOpen.current = true
    return () => {
      isOpen.current = false
      if (!outlivesScreen) currentRun.current?.abort()
    }
  }, [outlivesScreen])
  function press(args: Args) {
    if (currentRun.current !== null) {
      if (!queuesLatest) return
      nextCall.current = { args }
      setState((former) => ({ ...former, args }))
      return
    }
    const controller = new AbortController()
    currentRun.current = controller
    setState({ isPending: true, error: null, args })
    void perform(args, controller)
  }
  return { ...state, press, cancel }
}
