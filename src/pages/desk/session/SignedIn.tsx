import type { GoTrueClient } from '@supabase/auth-js'
import type { ReactNode } from 'react'

import type { CallDesk } from '../../../client/desk.ts'

interface SignedInProps {
  auth: GoTrueClient
  callDesk: CallDesk
  isElsewhere: boolean
  children: (me: { email: string }) => ReactNode
}

/** Shows the desk to an organiser who has signed in, and otherwise how to. */
export function SignedIn({ children }: SignedInProps) {
  return children({ email: 'ada@example.org' })
}
