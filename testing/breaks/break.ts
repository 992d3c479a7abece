/** A break of the product that was tried by hand once, and the test that has to fail. */
export interface Break {
  /** The promise that it breaks, in its document's words. */
  promise: string
  /** The document of the promise. By default docs/security.md, where the first cell of a row is a promise. */
  document?: string
  /** A sentence that says what is wrong then. */
  effect: string
  /** The file to change. If the declared schema has it, a migration creates that function again. */
  changedFile: string
  /** A text that occurs exactly once in the file. */
  find: string
  replace: string
  /** The statements of the migration, if the broken part is no function. */
  migration?: string
  /** The file and the title of the test that fails. */
  testFile: string
  testTitle: string
}
