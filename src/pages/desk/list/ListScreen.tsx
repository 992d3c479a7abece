import type { CallDesk } from '../../../client/desk.ts'

export function ListScreen(_: { callDesk: CallDesk }) {
  return <h1>Applications</h1>
}
