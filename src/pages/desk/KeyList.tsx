import { useDesk } from './data/useDesk.tsx'
import { SwitchField } from './kit/SwitchField.tsx'
import { singleKeys, useSwitch } from './kit/switches.ts'

const meanings = [
  ['j, k', 'next, previous'],
  ['Enter', 'open'],
  ['Esc', 'back'],
  ['/', 'search'],
  ['s', 'shortlist'],
  ['a', 'accept'],
  ['w', 'waitlist'],
  ['d', 'decline'],
  ['r', 'reset to New'],
  ['p', 'put aside'],
  ['1, 2, 3, 0', 'yes, maybe, no, no mark'],
  ['n', 'note'],
  ['Ctrl+Enter, Esc', 'save the note, leave the field'],
  ['x', 'select'],
  ['z', 'undo'],
  ['?', 'this list'],
] as const

/** The keys that readers do not have: those that decide, and select what to decide on. */
const keysThatDecide: readonly string[] = ['s', 'a', 'w', 'd', 'r', 'p', 'x', 'z']

/** The keyboard shortcuts, with a switch for single keys. */
export function KeyList() {
  const { isReader } = useDesk()
  const shown = meanings.filter(([key]) => !isReader || !keysThatDecide.includes(key))
  return (
    <>
      <dl>
        {shown.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <SwitchField label="Use single-key shortcuts" isOn={useSwitch(singleKeys)} onSwitch={singleKeys.turn} />
    </>
  )
}
