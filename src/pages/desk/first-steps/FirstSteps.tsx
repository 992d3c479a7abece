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
import { isDone, linesOf, type StepLine } from './steps.ts'
import { usePageAddress } from './usePageAddress.ts'
import { useFirstSteps } from './useFirstSteps.ts'

/** The parts below the list: the first steps until they are done or dismissed, and the page's address if nobody has applied. */
export function BelowList({ isEmpty }: { isEmpty: boolean }) {
  return (
    <>
      {useSwitch(welcome) && <DismissibleSteps />}
      {isEmpty && <SharePage />}
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
  const lines = linesOf(steps, page)
  return (
    <>
      <p className="layout-quiet">
        {lines.filter(({ step }) => isDone(steps, step)).length} of {lines.length} done.
      </p>
      <ul className="layout-lines first-steps-list">
        {lines.map((line) => (
          <li key={line.step}>
            {steps.done.includes(line.step) ? (
              <span className="first-steps-done">
                {line.words} <b>Done</b>
              </span>
            ) : (
              <StepTick line={line} isOn={steps.ticked.includes(line.step)} />
            )}
            {line.link && (
              <a className="layout-link" href={line.link[1]}>
                {line.link[0]}
              </a>
            )}
          </li>
        ))}
      </ul>
    </>
  )
}

/** The checkbox of a step. Each has an act of its own, so that several can be ticked at once. */
function StepTick({ line: { step, words }, isOn }: { line: StepLine; isOn: boolean }) {
  const tick = useDeskAct('desk_tick_step', {
    success: (_steps, { is_done: isTicked }) => (isTicked ? 'Ticked.' : 'Not ticked any more.'),
    isSuccessOnScreen: true,
  })
  return (
    <div>
      <Tick
        isOn={tick.isPending ? (tick.args?.is_done ?? isOn) : isOn}
        onTick={(isTicked) => tick.press({ step, is_done: isTicked })}
      >
        {words}
      </Tick>
      <ActProblems acts={[tick]} />
    </div>
  )
}
