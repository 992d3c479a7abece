import type { ReactNode } from 'react'

import type { CallDesk } from '../../../client/desk.ts'

export function JudgeProvider({ children }: { callDesk: CallDesk; children: ReactNode }) {
  return children
}
