import type { CallDesk } from '../../../client/desk.ts'

export function ApplicationScreen({ id }: { id: string; callDesk: CallDesk }) {
  return <h1>{id}</h1>
}
