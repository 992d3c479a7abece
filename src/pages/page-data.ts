/** The id of the element with the page's data, as JSON. */
export const pageDataId = 'page-data'

/**
 * Reads the data that the document was rendered from.
 *
 * @throws {SyntaxError} if the document has no data.
 */
export function readPageData(): unknown {
  return JSON.parse(document.getElementById(pageDataId)?.textContent ?? '')
}
