/** The page's copy, other than the questions: its head's, which previews say too, and its button's and boxes'. */
export const title = 'Unplugged.'
export const tagline = 'Build deeper relationships and bigger ideas without distraction'
export const badge = 'Free For Founders, Apply Below'

export const sendLabel = 'Send Details!'
export const sendingLabel = 'Submitting...'
/** What a screen reader says while the button is out of use. */
export const sendingAnnouncement = 'Sending your application.'

export const successTitle = 'Application Submitted Successfully!'
export const successText =
  "Thank you for applying to Unplugged. We'll review your application and get back to you soon."
export const failureTitle = 'Submission Failed'
/** Said where an error has no words of its own. */
export const fallbackText = 'Failed to submit application. Please try again.'
export const offlineText = 'You seem to be offline. Send your answers again when you are connected.'
export const offlineKeptText =
  'You seem to be offline. Your answers are kept here: send them again when you are connected.'
