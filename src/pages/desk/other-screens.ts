/** What the first list does not need of the desk’s other screens, in one script. */
export { KeyList } from './KeyList.tsx'
export { OtherScreen } from './OtherScreen.tsx'
export { SecondFactor } from './session/SecondFactor.tsx'
export { SignInByLink } from './session/SignInByLink.tsx'
export { Elsewhere, Stranger } from './session/NoDesk.tsx'
