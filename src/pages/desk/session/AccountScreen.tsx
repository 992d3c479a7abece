import type { GoTrueClient } from '@supabase/auth-js'

import type { CallDesk } from '../../../client/desk.ts'

export interface AccountScreenProps {
  auth: GoTrueClient
  callDesk: CallDesk
  email: string
}

export function AccountScreen({ email }: AccountScreenProps) {
  return <h1>{email}</h1>
}
