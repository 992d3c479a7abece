/** The notices above the first form of the sign-in, before any input. */
export const notices = {
  'signed out': { text: 'You are signed out.', isProblem: false },
  'session ended': { text: 'Your session has ended. Please sign in again.', isProblem: true },
  'link failed': {
    text: 'Signing in by this link did not work. Please ask for a code instead.',
    isProblem: true,
  },
  'link used': {
    text: 'This link was used already or has expired. Please ask for a code instead.',
    isProblem: true,
  },
  // After one of the two links of an address change was used.
  'address confirmed': {
    text: 'This address is confirmed. Please also open the link in the email to the other address.',
    isProblem: false,
  },
} as const

/** The name of a notice. The first list does not load its words. */
export type Notice = keyof typeof notices
