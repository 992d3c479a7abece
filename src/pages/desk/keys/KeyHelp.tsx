import { useRef } from 'react'

import { switchKeys, useKeys, useKeysAreOn } from './keys.ts'

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
  const dialog = useRef<HTMLDialogElement>(null)
  const areOn = useKeysAreOn()
  const show = () => dialog.current?.showModal()
  useKeys({ '?': show })
  return (
    <>
      <button className="quiet" aria-haspopup="dialog" onClick={show}>
        Keys
      </button>
      <dialog ref={dialog} aria-labelledby="keys-title" className="keys">
        <h2 id="keys-title">Keys</h2>
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
        <form method="dialog">
          <button>Close</button>
        </form>
      </dialog>
    </>
  )
}
