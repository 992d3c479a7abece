/** The other screens of the desk in one script, which the first list does not need. */
export { KeyList } from './KeyList.tsx'
export { OtherScreen } from './OtherScreen.tsx'
export { SecondFactor } from './session/SecondFactor.tsx'
export { SignInByLink } from './session/SignInByLink.tsx'
export { SignInElsewhere, NotAnOrganiser } from './session/NoAccess.tsx'
