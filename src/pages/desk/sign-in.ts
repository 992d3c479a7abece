/** One script with every step of signing in. The list of a signed-in organiser does not load it. */
export { hydrateSignIn } from './session/hydrate-sign-in.ts'
export { SignInElsewhere, NotAnOrganiser } from './session/NoAccess.tsx'
export { SecondFactor } from './session/SecondFactor.tsx'
export { SignIn } from './session/SignIn.tsx'
export { SignInByLink } from './session/SignInByLink.tsx'
export { Unreachable } from './session/Unreachable.tsx'
