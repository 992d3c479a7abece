import { Dialog } from './Dialog.tsx'
import { switchKeys, useKeysAreOn } from './useKeys.ts'

const meanings = [
  ['j, k', 'next, previous'],
  ['Enter', 'open'],
  ['Esc', 'back'],
  ['/', 'search'],
  ['s', 'shortlist'],
  ['a', 'accept'],
  ['w', 'waitlist'],
  ['d', 'decline'],
  ['r', 'back to new'],
  ['n', 'note'],
  ['x', 'select'],
  ['z', 'undo'],
  ['?', 'this list'],
] as const

/** What the keys do, and the switch that turns single keys off. */
export function KeyHelp() {
  const areOn = useKeysAreOn()
  return (
    <Dialog button="Keys" openKey="?" title="Keys" className="keys" close="Close">
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
      <label className="switch">
        <input type="checkbox" checked={areOn} onChange={(event) => switchKeys(event.target.checked)} />
        Single keys do something
      </label>
    </Dialog>
  )
}
