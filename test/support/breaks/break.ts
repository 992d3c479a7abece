/**
 * A deliberate break of the product. `npm run test:breaks` makes each. The test that has to fail with it has the comment
 * `// break: <id>` directly above.
 */
export interface Break {
  /** Says how the broken product behaves, in a few words of kebab-case. */
  id: string
  /** The broken promise, in its document's words. */
  promise: string
  /** The document of the promise. By default docs/security.md, where the first cell of a row is a promise. */
  document?: string
  /** A sentence that says how the broken product behaves. */
  effect: string
  /** The file to change. For a file of the declared schema, a migration replaces the changed function. */
  changedFile: string
  /** A text that occurs exactly once in the file. */
  find: string
  replace: string
  /** The statements of the migration, if the break does not change a function. */
  migration?: string
}
