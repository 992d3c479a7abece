/** Everything that the list does not need when it opens. It is one script: with two, the build would put React into a third. */
export { DecisionProblems } from '../decisions/DecisionProblems.tsx'
export { ApplicationPlots } from './ApplicationPlots.tsx'
export { ApplicationShow } from './ApplicationShow.tsx'
export { readTable, saveTable } from './export.ts'
export { FilterFields } from './FilterFields.tsx'
export { BelowList } from '../first-steps/FirstSteps.tsx'
export { ListExtras } from './ListExtras.tsx'
export { SearchHint } from './SearchHint.tsx'
