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

/** The keyboard shortcuts, with a switch for single keys. */
export function KeyList() {
  return (
    <>
      <dl>
        {meanings.map(([key, meaning]) => (
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
