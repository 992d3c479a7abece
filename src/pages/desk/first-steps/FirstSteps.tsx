import type { FirstSteps } from '../../../client/desk/retreat.ts'
import { ActProblems } from '../kit/ActProblems.tsx'
import { Button } from '../kit/Button.tsx'
import { Tick } from '../kit/Tick.tsx'
import { hrefOf } from '../data/route.ts'
import { Sheet } from '../kit/Screen.tsx'
import { welcome } from '../data/switches.ts'
import { useSwitch } from '../kit/switches.ts'
import { useDeskAct } from '../data/useDeskAct.ts'
import { SharePage } from './SharePage.tsx'
import { isDone, linesOf } from './steps.ts'
import { usePageAddress } from './usePageAddress.ts'
import { useFirstSteps } from './useFirstSteps.ts'

/** The parts below the list: the page's address if nobody has applied, and the first steps until they are done or dismissed. */
export function BelowList({ isEmpty }: { isEmpty: boolean }) {
  return (
    <>
      {isEmpty && <SharePage />}
      {useSwitch(welcome) && <DismissibleSteps />}
    </>
  )
}

function DismissibleSteps() {
  const { data } = useFirstSteps()
  const page = usePageAddress()
  const isShown = data !== undefined && !linesOf(data, page).every(({ step }) => isDone(data, step))
  if (!isShown) return null
  return (
    <Sheet title="First steps" className="first-steps-sheet">
      <StepList steps={data} />
      <div className="layout-row">
        <Button onPress={() => welcome.turn(false)}>Hide the list</Button>
        <span className="layout-quiet">
          You find it again under <a href={hrefOf({ screen: 'first-steps' })}>Retreat</a>.
        </span>
      </div>
    </Sheet>
  )
}

/** The first steps. The database knows whether some are done. Organisers tick the others for all of them. */
export function StepList({ steps }: { steps: FirstSteps }) {
  const page = usePageAddress()
  const tick = useDeskAct('desk_tick_step', {
    success: (_steps, { is_done: isTicked }) => (isTicked ? 'Ticked.' : 'Not ticked any more.'),
  })
  const lines = linesOf(steps, page)
  const pending = tick.isPending ? tick.args : undefined
  return (
    <>
      <p className="layout-quiet">
        {lines.filter(({ step }) => isDone(steps, step)).length} of {lines.length} done.
      </p>
      <ul className="layout-lines first-steps-list">
        {lines.map(({ step, words, link }) => (
          <li key={step}>
            {steps.done.includes(step) ? (
              <span className="first-steps-done">
                {words} <b>Done</b>
              </span>
            ) : (
              <Tick
                isOn={pending?.step === step ? pending.is_done : steps.ticked.includes(step)}
                onTick={(isOn) => tick.press({ step, is_done: isOn })}
              >
                {words}
              </Tick>
            )}
            {link && (
              <a className="layout-link" href={link[1]}>
                {link[0]}
              </a>
            )}
          </li>
        ))}
      </ul>
      <ActProblems acts={[tick]} />
    </>
  )
}
