import { useCallback, useEffect, useRef, useState } from 'react'

import { newAct } from '../../../client/act.ts'

const underWay = new Set<AbortController>()

/** Whether an act is under way that would be lost with the page. */
export function isActing(): boolean {
  return underWay.size > 0
}

/**
 * For acts that are sent at once or not at all: nothing is kept for later.
 *
 * @throws An `Error` with a sentence for an organiser, where this browser has no connection.
 */
export function insistOnConnection(): void {
  if (!navigator.onLine) throw new Error('Not sent: there is no connection. Try again.')
}

interface ActState<Given, Answer> {
  isPending: boolean
  error: Error | null
  /** The last answer, and the values that the act was done with. */
  answer?: Answer
  given?: Given
}

interface ActOptions<Given, Answer> {
  onSuccess?: ((answer: Answer, given: Given) => void | Promise<void>) | undefined
  /** After a success and a failure: of one that was cancelled nobody knows whether it was too late. */
  onSettled?: ((error: Error | null) => unknown) | undefined
  /** Whether what is pressed while it is being done is done after it, the last of it. */
  keepsLast?: boolean | undefined
}

/** What a button or a form does. */
export interface Act<Given, Answer> extends ActState<Given, Answer> {
  /** Does it, unless it is being done: a second press can come before the first one is rendered. */
  press: (given: Given) => void
  /** Ends it where it has not happened yet, and forgets what came of it. */
  cancel: () => void
}

/**
 * Something that an organiser does: once at a time, at once or not at all, and never after it was cancelled or its
 * screen was left.
 *
 * @param run Does it, for as long as the signal lets it. The act's id is the same one where the same is done
 *   again after a failure.
 */
export function useAct<Given, Answer>(
  run: (given: Given, signal: AbortSignal, id: () => string) => Promise<Answer>,
  { onSuccess, onSettled, keepsLast = false }: ActOptions<Given, Answer> = {},
): Act<Given, Answer> {
  const [state, setState] = useState<ActState<Given, Answer>>({ isPending: false, error: null })
  const running = useRef<AbortController>(null)
  const last = useRef<AbortController>(null)
  const waiting = useRef<{ given: Given }>(null)
  const asked = useRef({ given: '', id: '' })

  const perform = async (given: Given, own: AbortController) => {
    let outcome: Pick<ActState<Given, Answer>, 'error' | 'answer'>
    underWay.add(own)
    try {
      const answer = await run(given, own.signal, () => {
        const said = JSON.stringify(given)
        if (asked.current.id === '' || asked.current.given !== said)
          asked.current = { given: said, id: newAct() }
        return asked.current.id
      })
      asked.current.id = ''
      outcome = { error: null, answer }
      if (running.current === own) running.current = null
      await onSuccess?.(answer, given)
    } catch (error) {
      outcome = { error: error instanceof Error ? error : new Error(String(error), { cause: error }) }
    } finally {
      underWay.delete(own)
      if (running.current === own) running.current = null
    }
    const next = waiting.current
    waiting.current = null
    if (next !== null && !own.signal.aborted) press(next.given)
    // What it changed is read before anything is said of it.
    await onSettled?.(outcome.error)
    if (last.current === own) setState({ isPending: false, given, ...outcome })
  }
  const cancel = useCallback(() => {
    running.current?.abort()
    running.current = null
    last.current = null
    asked.current.id = ''
    setState({ isPending: false, error: null })
  }, [])
  useEffect(() => () => running.current?.abort(), [])
  function press(given: Given) {
    if (running.current !== null) {
      if (keepsLast) waiting.current = { given }
      return
    }
    const own = new AbortController()
    running.current = own
    last.current = own
    setState({ isPending: true, error: null, given })
    void perform(given, own)
  }
  return { ...state, press, cancel }
}
