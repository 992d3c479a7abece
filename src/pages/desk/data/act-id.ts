import { newActId } from '../../../client/act.ts'
import { setUnsentText, subscribeToUnsentText, unsentTextOf } from './useUnsentText.ts'

/**
 * An act without a response yet: its id and what it says. A later act about the same that says something else replaces it: after
 * “Yes”, “No” and “Yes”, the last one is no repeat.
 */
interface KeptAct {
  act: string
  says: string
}

/**
 * The ids of one account's acts about one subject. They are among the unsent text, so that an act whose response was lost is the
 * same act after a reload.
 */
export function actIdsOf(account: string, subject: string) {
  const name = `act ${subject}`
  const kept = () => unsentTextOf<KeptAct>(account, name)
  return {
    /** Returns the id of an act with these arguments: that of the last act if it says the same and had no response, or a new one. */
    idFor(args: object): string {
      const says = JSON.stringify(args)
      const last = kept()
      const current = last?.says === says ? last : { act: newActId(), says }
      setUnsentText<KeptAct>(account, name, current)
      return current.act
    },
    /** Forgets the id of an act that had its response. */
    forget: (act: string) =>
      setUnsentText<KeptAct>(account, name, (last) => (last?.act === act ? null : last)),
    /** Calls `onReplaced` whenever another act has replaced this one. Returns a function that ends this. */
    watch: (act: string, onReplaced: () => void) =>
      subscribeToUnsentText(() => {
        const last = kept()
        if (last !== null && last.act !== act) onReplaced()
      }),
  }
}
