import { Screen } from '../kit/Screen.tsx'
import { StepList } from './FirstSteps.tsx'
import { useFirstSteps } from './useFirstSteps.ts'

/** The screen of the first steps, also after they are done or hidden. */
export function FirstStepsShow() {
  return (
    <Screen title="First steps" query={useFirstSteps()}>
      {(steps) => (
        <div className="layout-sheet first-steps-sheet">
          <StepList steps={steps} />
        </div>
      )}
    </Screen>
  )
}
