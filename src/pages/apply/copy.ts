/** The text of the page except the questions: its head, its button and its boxes. */
export const title = 'Unplugged.'
export const tagline = 'Build deeper relationships and bigger ideas without distraction'
export const badge = 'Free For Founders, Apply Below'

/** The label of the button, at rest and during a send. */
export const sendLabel = 'Send Details!'
export const sendingLabel = 'Submitting...'
/** The announcement while the button is disabled. */
export const sendingAnnouncement = 'Sending your application.'

/** The boxes after a send, by its result. */
export const successTitle = 'Application Submitted Successfully!'
export const successText =
  "Thank you for applying to Unplugged. We'll review your application and get back to you soon."
export const failureTitle = 'Submission Failed'
/** The message for an error that has no message. */
export const fallbackText = 'Failed to submit application. Please try again.'
export const offlineText = 'You seem to be offline. Send your answers again when you are connected.'
export const offlineStoredText =
  'You seem to be offline. Your answers are kept here: send them again when you are connected.'
