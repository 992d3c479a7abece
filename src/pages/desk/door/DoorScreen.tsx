import type { CallDesk } from '../../../client/desk.ts'

export function DoorScreen(_: { callDesk: CallDesk }) {
  return <h1>Door</h1>
}
