/** One script with every screen but the applications, so that the list that opens first does not load it. */
export { KeyList } from './KeyList.tsx'
export { OtherScreen } from './OtherScreen.tsx'
