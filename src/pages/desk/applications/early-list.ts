/**
 * The first list, which the document's inline script draws as soon as its rows have come, until the page's script has come.
 * What is pressed meanwhile is held.
 */
import { teamSizes } from '../../../application/application.ts'
import type { Listed } from '../../../client/desk/applications.ts'
import { momentOf, nameOf, shortMomentOf, shortOf } from '../kit/format.ts'

declare global {
  interface Window {
    /** The keys that were pressed while the list was on its way; null once React shows it. */
    heldKeys?: string[] | null
  }
}

/** The id of the template that the list is drawn from. */
export const blankListId = 'blank-list'

/** Whether the address asks for the list as it is without any filter. */
export function isFirstList(): boolean {
  return /^(#\/?)?$/.test(location.hash)
}

/**
 * Begins to hold the keys that move, which are replayed once the page's script is there. No other key is: nobody may decide on a
 * row that they have not seen. What is typed into the search stays in it.
 */
export function holdKeys(): void {
  window.heldKeys = []
  addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, repeat, target } = event
    if (!window.heldKeys || !['j', 'k', '/'].includes(key) || ctrlKey || metaKey || altKey || repeat) return
    if (target instanceof HTMLInputElement) return
    const search = key === '/' && document.getElementById('search')
    if (search) {
      event.preventDefault()
      search.focus()
    } else window.heldKeys.push(key)
  })
}

/** Shows rows, the newest first, unless React shows them by now or somebody went to another screen. */
export function drawEarlyList(page: HTMLElement, rows: readonly Listed[]): void {
  const template = document.getElementById(blankListId)
  const row = template instanceof HTMLTemplateElement && template.content.querySelector('tbody tr')
  if (!row || !window.heldKeys || rows.length === 0 || !isFirstList()) return
  row.parentElement?.replaceChildren(
    ...rows.map((application) => filled(row.cloneNode(true) as Element, application)),
  )
  for (const idle of template.content.querySelectorAll<HTMLElement>('button, .tick, td label'))
    idle.inert = true
  page.replaceChildren(template.content)
}

/** Fills in a row as `ApplicationTable` has it. */
function filled(row: Element, application: Listed) {
  const { id, company, team_size, reason, created_at, same_email } = application
  const say = (where: string, text: string) => row.querySelector(where)?.replaceChildren(text)
  const link = row.querySelector('a')
  if (link) Object.assign(link, { id, href: `#/applications/${id}` })
  say('bdi', nameOf(application))
  if (!same_email) row.querySelector('.again')?.remove()
  say('.company bdi', company === undefined ? 'hidden' : shortOf(company))
  say('.team', team_size === '' ? '' : teamSizes[team_size])
  say('.reason', reason)
  const time = row.querySelector('time')
  if (time) Object.assign(time, { dateTime: created_at, title: momentOf(created_at) })
  say('time', shortMomentOf(created_at))
  return row
}
