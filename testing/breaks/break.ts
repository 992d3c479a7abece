/** A break of the product that was tried by hand once, and the test that has to fail. */
export interface Break {
  /** The promise that it breaks, in its document's words. */
  promise: string
  /** The document; docs/security.md unless given, where the first cell of a row is a promise. */
  of?: string
  /** A sentence that says what is wrong then. */
  broken: string
  /** The file to change. If the declared schema has it, a migration creates that function again. */
  file: string
  /** A text that occurs exactly once in the file. */
  find: string
  replace: string
  /** The statements of the migration, if the broken part is no function. */
  migration?: string
  /** The file and the name of the test that fails. */
  test: string
  name: string
}
