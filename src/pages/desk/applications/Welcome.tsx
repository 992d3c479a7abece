import { Button } from '../kit/Button.tsx'
import { focusHeading } from '../kit/focus.ts'
import { hrefOf } from '../kit/route.ts'
import { welcome } from '../kit/switches.ts'
import { useSwitch } from '../kit/useSwitch.ts'
import { welcomeId } from './welcome-id.ts'

/** The first steps at the desk, until the organiser dismisses them. */
export function Welcome() {
  if (!useSwitch(welcome)) return null
  return (
    <section id={welcomeId} className="layout-sheet list-welcome" aria-label="First steps">
      <ul>
        <li>
          Invite a colleague: whoever runs this site adds them by <code>npm run organisers</code>.
        </li>
        <li>Read an application: press its row, decide by the buttons below, and go on to the next.</li>
        <li>
          Close the <a href={hrefOf({ screen: 'door' })}>door</a> when you have as many as you want.
        </li>
      </ul>
      <Button
        onPress={() => {
          // The pressed button disappears.
          focusHeading()
          welcome.turn(false)
        }}
      >
        Got it
      </Button>
    </section>
  )
}
