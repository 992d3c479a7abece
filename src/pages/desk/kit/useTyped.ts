import { useSyncExternalStore } from 'react'

import { storageOf } from '../../../client/storage.ts'
import { createListeners } from './listen.ts'
import { useDesk } from './useDesk.tsx'

/** What was typed and not sent yet, by the names of what it was typed into, and the account of who typed it. */
interface Typed {
  account: string
  texts: Readonly<Record<string, unknown>>
}

/** Something else that is typed, or what becomes of what is typed last. */
export type Change<Text> = Text | null | Becomes<Text>
type Becomes<Text> = (latest: Text | null) => Text | null

const storageKey = 'unplugged-desk-drafts'
const storage = storageOf('sessionStorage')
const { subscribe, tell } = createListeners()
const nothing: Typed = { account: '', texts: {} }
let typed = read()

/** Of all tabs: by it each hears that somebody signed out in another one. */
const shared = storageOf('localStorage')
addEventListener('storage', ({ key }) => key === storageKey && set(nothing))

/**
 * What is typed into something and not sent yet. It survives Back and a reload, in this tab and for this account alone.
 *
 * @param name Of what it is typed into, such as `door`, or `note` and the application's id.
 * @returns It, or null where nothing is typed; and what keeps something else, null for nothing.
 */
export function useTyped<Text>(name: string) {
  const { account } = useDesk()
  const text = useSyncExternalStore(subscribe, () => textsOf(account)[name] ?? null) as Text | null
  const type = useTyping()
  return [text, (change: Change<Text>) => type(name, change)] as const
}

/** The same for whatever is named: keeps something else there, also once the screen was left. */
export function useTyping() {
  const { account } = useDesk()
  return <Text>(name: string, change: Change<Text>): void => {
    const { [name]: latest = null, ...others } = textsOf(account)
    const changed = typeof change === 'function' ? (change as Becomes<Text>)(latest as Text | null) : change
    if (changed !== latest)
      set({ account, texts: changed === null ? others : { ...others, [name]: changed } })
  }
}

/** Forgets all of it: whoever signs out leaves nothing behind. */
export function forgetTyped(): void {
  set(nothing)
  shared.setItem(storageKey, '')
  shared.removeItem(storageKey)
}

/** Forgets what somebody else typed whose session ended without their signing out. */
export function forgetOthersTyped(account: string): void {
  if (typed.account !== account) set(nothing)
}

function textsOf(account: string) {
  return typed.account === account ? typed.texts : nothing.texts
}

function set(change: Typed) {
  typed = change
  if (Object.keys(typed.texts).length === 0) storage.removeItem(storageKey)
  else storage.setItem(storageKey, JSON.stringify(typed))
  tell()
}

function read(): Typed {
  const kept = storage.getItem(storageKey)
  return kept === null ? nothing : (JSON.parse(kept) as Typed)
}
