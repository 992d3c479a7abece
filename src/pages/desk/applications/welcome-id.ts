/** The id of what is said to somebody new, by which the document's inline script finds it. */
export const welcomeId = 'welcome'
