import { useSyncExternalStore } from 'react'

import { useDesk } from '../kit/useDesk.tsx'
import type { Judge, Judgement } from './judge.ts'

/** By what is decided, and how it stands. */
export function useJudge(): { judge: Judge; judgement: Judgement } {
  const { judge } = useDesk()
  return { judge, judgement: useSyncExternalStore(judge.subscribe, judge.judgement) }
}
