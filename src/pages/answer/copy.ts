/** The text of the page on which accepted people give their RSVP. `titleIntro` comes before the form's title. */
export const titleIntro = 'Your place at '
/** The description of the page for link previews. */
export const description = 'Say whether you are coming.'

/** The labels of the page's buttons. */
export const rsvpLabels = { coming: 'I am coming', 'not coming': 'I cannot come' }
export const changeLabel = 'Change my answer'
export const keepLabel = 'Keep it'
export const againLabel = 'Try again'

/** Comes before the name of the retreat that somebody is coming to. */
export const comingIntro = 'See you at '
export const calendarLabel = 'Add to your calendar'
export const webCalendarsIntro = 'Or open it in '
export const googleLabel = 'Google Calendar'
export const outlookLabel = 'Outlook'

/** The page's other sentences: about the RSVP, and about links that cannot be used. */
export const notComingSentence = 'You are not coming. Thank you for telling us.'
export const overSentence = 'The deadline to answer has passed.'
export const noScriptSentence = 'This page needs JavaScript to take your answer.'
export const byMailSentence = 'Please reply to the letter by email.'
export const cannotComeIntro = 'Cannot come after all? '
export const questionsIntro = 'Questions? '
export const invalidSentence = 'This link is no longer valid.'
export const incompleteSentence = 'This link is incomplete.'
export const openAgainSentence = 'Please open the link in the letter again, or copy the whole link.'

/** The words while a call is pending, and the message if it fails. */
export const reading = {
  label: 'One moment...',
  failure: 'Your invitation could not be loaded. Please check your connection.',
}
export const sending = {
  label: 'Sending...',
  failure: 'Your answer may not have arrived. Please check your connection.',
}

/** The words of the questions. */
export const questionsTitle = 'A few questions'
export const untilIntro = 'You can change these answers until '
export const closedSentence = 'The last day to change these answers has passed.'
export const changedSentence = 'The questions have changed. Please check your answers, and send them again.'
export const optionalSuffix = ' (optional)'
export const privateHint = 'Private: only the organisers read it.'
export const erasedHint = (days: number): string =>
  ` It is deleted ${days === 1 ? '1 day' : `${days} days`} after the retreat.`
export const removeHint = ' Leave it blank to remove your answer.'
export const yesNoLabels = { yes: 'Yes', no: 'No' }
export const noAnswerLabel = 'No answer'
export const answeredSentence = 'Answered.'
export const changeOneLabel = 'Change'
export const sendAnswersLabel = 'Send answers'
export const saveAnswersLabel = 'Save answers'
export const savedSentence = 'Saved. Thank you.'
export const sendingAnswers: typeof reading = {
  label: sending.label,
  failure: 'Your answers may not have arrived. Please check your connection.',
}
