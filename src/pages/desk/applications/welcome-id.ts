/** The id of the first steps, for the document's inline script. */
export const welcomeId = 'welcome'
