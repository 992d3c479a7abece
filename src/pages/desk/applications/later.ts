/** What the first list does not need, in one script: with two, React would be in a third one. */
export { ApplicationPlots } from './ApplicationPlots.tsx'
export { ApplicationShow } from './ApplicationShow.tsx'
export { FilterFields } from './FilterFields.tsx'
