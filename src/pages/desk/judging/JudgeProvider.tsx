import { useQueryClient } from '@tanstack/react-query'
import { createContext, useContext, useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'

import type { CallDesk } from '../../../client/desk.ts'
import { announce } from '../announcement.ts'
import { Judge, type Judgement } from './judge.ts'

const JudgeContext = createContext<Judge | undefined>(undefined)

/** Keeps what was decided while organisers go from screen to screen; it ends with their session. */
export function JudgeProvider({ callDesk, children }: { callDesk: CallDesk; children: ReactNode }) {
  const queries = useQueryClient()
  const [judge] = useState(
    () =>
      new Judge(callDesk, (sentence) => {
        announce(sentence)
        void queries.invalidateQueries({ queryKey: ['overview'] })
        void queries.invalidateQueries({ queryKey: ['application'] })
        void queries.invalidateQueries({ queryKey: ['letters'] })
      }),
  )
  useEffect(() => () => judge.end(), [judge])
  useEffect(() => {
    // What is under way would be lost with the page.
    const askFirst = (event: Event) => {
      if (judge.isWaiting() || queries.isMutating() > 0) event.preventDefault()
    }
    addEventListener('beforeunload', askFirst)
    return () => removeEventListener('beforeunload', askFirst)
  }, [judge, queries])
  return <JudgeContext value={judge}>{children}</JudgeContext>
}

/** By what is decided, and how it stands. */
export function useJudge(): { judge: Judge; judgement: Judgement } {
  const judge = useContext(JudgeContext)
  if (judge === undefined) throw new Error('useJudge stands outside of its provider')
  return { judge, judgement: useSyncExternalStore(judge.subscribe, judge.judgement) }
}
