import { focusHeading } from '../focus.ts'

/** For a draft that has the focus and is about to go: the next one is read on with. */
export function focusNext(letter: string): void {
  const next = document.getElementById(`draft-${letter}`)?.closest('article')?.nextElementSibling
  const link = next?.querySelector<HTMLElement>('h2 a')
  if (link) link.focus()
  else focusHeading()
}
