/** A break of the product, tried by hand once, and the test that has to die of it. */
export interface Break {
  /** The promise that does not hold then, in words that its document has. */
  promise: string
  /** The document; docs/security.md unless given, where the first cell of a row is a promise. */
  of?: string
  /** What is wrong then, in a sentence. */
  broken: string
  /** Of the declared schema too: then a migration makes the function anew that stands there. */
  file: string
  /** Stands in the file exactly once. */
  find: string
  replace: string
  /** What the migration says, where what is broken is no function. */
  migration?: string
  /** The file of the test that dies, and its name as it stands there. */
  test: string
  name: string
}
