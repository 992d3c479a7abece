/** The page's text that no setting changes: its button and its boxes. `src/application/fields.ts` has the questions. */

/** The label of the button, at rest and during a send. */
export const sendLabel = 'Send Details!'
export const sendingLabel = 'Submitting...'
/** The announcement while the button is disabled. */
export const sendingAnnouncement = 'Sending your application.'

/** The titles of the boxes after a send. */
export const successTitle = 'Application Submitted Successfully!'
export const failureTitle = 'Submission Failed'
/** The heading while the door is closed. */
export const closedTitle = 'Applications are closed'
export const openedAnnouncement = 'Applications are open.'
/** The text beside it, if a send before had no response. */
export const repeatText = 'Your application may have arrived before. Send it again to find out.'
/** The message for an error that has no message. */
export const fallbackText = 'Failed to submit application. Please try again.'
export const offlineText = 'You seem to be offline. Send your answers again when you are connected.'
export const offlineStoredText =
  'You seem to be offline. Your answers are kept here: send them again when you are connected.'
