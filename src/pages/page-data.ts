/** The element of a document that holds what the document was rendered from, as JSON. */
export const pageDataId = 'page-data'

/** Reads what the document was rendered from, so that hydration sees the same. */
export function readPageData(): unknown {
  return JSON.parse(document.getElementById(pageDataId)?.textContent ?? '')
}
