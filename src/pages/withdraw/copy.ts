/** The text of the page on which an application is withdrawn. `titleIntro` comes before the form's title. */
export const titleIntro = 'Your application to '
/** The description of the page for link previews. */
export const description = 'Withdraw your application.'

/** The labels of the page's buttons. */
export const withdrawLabel = 'Withdraw my application'
export const confirmLabel = 'Yes, withdraw it'
export const keepLabel = 'Keep it'
export const restoreLabel = 'Restore my application'
export const againLabel = 'Try again'

/** The page's sentences. */
export const noScriptSentence = 'This page needs JavaScript to withdraw your application.'
export const byMailSentence = 'Please reply to the email instead.'
export const questionSentence = 'Do you want to withdraw your application?'
export const untilDecidedSentence = 'You can restore it until the organisers decide.'
/** The same for all links that cannot be used, so that it does not tell whether somebody applied. */
export const invalidSentence =
  'This link does not work, or no longer: please open it from the email again, or reply to that email.'

/** The sentence about an application, after the greeting. */
export const aboutApplication: Record<'open' | 'withdrawn' | 'decided', (day: string) => string> = {
  open: (day) => `, we have your application of ${day}.`,
  withdrawn: (day) => `, your application of ${day} is withdrawn.`,
  decided: (day) => `, your application of ${day} can no longer be withdrawn here.`,
}

/** The words while a call is pending, and the message if it fails. */
export const reading = {
  label: 'One moment...',
  failure: 'Your application could not be loaded. Please check your connection.',
}
export const sending = {
  label: 'Sending...',
  failure: 'This may not have arrived. Please check your connection.',
}
