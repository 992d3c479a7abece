import { useMutation, type MutateOptions } from '@tanstack/react-query'
import { useCallback, useEffect, useRef } from 'react'

/**
 * For what is sent at once or not at all: nothing is kept for later.
 *
 * @throws An `Error` with a sentence for an organiser, where this browser has no connection.
 */
export function insistOnConnection(): void {
  if (!navigator.onLine) throw new Error('Not sent: there is no connection. Try again.')
}

interface ActOptions<Given, Answer> {
  onSuccess?: (answer: Answer, given: Given) => void
  /** After a success, and with no answer after a failure: of one that was cancelled nobody knows whether it was too late. */
  onSettled?: (answer: Answer | undefined) => unknown
}

/**
 * Something that an organiser does: once at a time, at once or not at all, and never after it was cancelled or its
 * screen was left.
 *
 * @param act Does it, for as long as the signal lets it.
 */
export function useAct<Given, Answer>(
  act: (given: Given, signal: AbortSignal) => Promise<Answer>,
  { onSuccess, onSettled }: ActOptions<Given, Answer> = {},
) {
  const running = useRef<AbortController>(null)
  const { mutate, reset, data, error, isPending, variables } = useMutation<Answer, Error, Given>({
    mutationFn: async (given) => {
      const own = new AbortController()
      running.current = own
      try {
        insistOnConnection()
        return await act(given, own.signal)
      } finally {
        if (running.current === own) running.current = null
      }
    },
    // What it answered is kept for as long as it is shown, and no longer.
    gcTime: 0,
    ...(onSuccess && { onSuccess }),
    ...(onSettled && { onSettled }),
  })
  const cancel = useCallback(() => {
    running.current?.abort()
    reset()
  }, [reset])
  useEffect(() => () => running.current?.abort(), [])
  return {
    data,
    error,
    isPending,
    /** What it was done with the last time. */
    variables,
    /** Does it, unless it is being done: a second press can come before the first one is rendered. */
    mutate: (given: Given, options: MutateOptions<Answer, Error, Given> = {}) => {
      if (running.current === null) mutate(given, options)
    },
    /** Ends it where it has not happened yet, and forgets what came of it. */
    cancel,
  }
}
