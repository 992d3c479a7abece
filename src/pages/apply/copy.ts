/** The text of the page that nobody changes by settings, except the questions: its button and its boxes. */

/** The label of the button, at rest and during a send. */
export const sendLabel = 'Send Details!'
export const sendingLabel = 'Submitting...'
/** The announcement while the button is disabled. */
export const sendingAnnouncement = 'Sending your application.'

/** The boxes after a send, by its result. */
export const successTitle = 'Application Submitted Successfully!'
/** The words of the link to a page about privacy. */
export const privacyLabel = 'Privacy'
export const failureTitle = 'Submission Failed'
/** The message for an error that has no message. */
export const fallbackText = 'Failed to submit application. Please try again.'
export const offlineText = 'You seem to be offline. Send your answers again when you are connected.'
export const offlineStoredText =
  'You seem to be offline. Your answers are kept here: send them again when you are connected.'
