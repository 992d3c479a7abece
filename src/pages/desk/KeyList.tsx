import { autoAdvance, singleKeys, type Switch } from './kit/switches.ts'
import { useSwitch } from './kit/useSwitch.ts'

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

/** The keyboard shortcuts, with a switch for single keys and one for opening the next application. */
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
      <SwitchField option={singleKeys} label="Use single-key shortcuts" />
      <SwitchField option={autoAdvance} label="Go on after a decision" />
    </>
  )
}

function SwitchField({ option, label }: { option: Switch; label: string }) {
  return (
    <label className="control-switch">
      <input
        type="checkbox"
        checked={useSwitch(option)}
        onChange={({ target }) => option.turn(target.checked)}
      />
      {label}
    </label>
  )
}
