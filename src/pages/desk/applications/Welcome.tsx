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
        <li>Invite a colleague: ask the person who runs this site to add them.</li>
        <li>
          Set the days and the <a href={hrefOf({ screen: 'retreat' })}>places</a> of the retreat, and read the{' '}
          <a href={hrefOf({ screen: 'letters' })}>letters</a> that people will get.
        </li>
        <li>
          Read an application: open its row, decide with the buttons at the bottom, then go on to the next.
        </li>
        <li>
          Close the <a href={hrefOf({ screen: 'door' })}>door</a> when you have enough applications.
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
