/**
 * A deliberate break of the product. `npm run test:breaks` makes each. The test that has to fail with it has the comment
 * `// break: <id>` directly above.
 */
export type Break = {
  /** Says in a few words of kebab-case how the broken product behaves. */
  id: string
  /** The broken promise, in the words of docs/security.md. The first cell of a row is a promise. */
  promise?: string
  /** A sentence that says how the broken product behaves. */
  effect: string
} & (SourceChange | { statements: string })

/** A change of the source. A changed function of the schema replaces the original in a migration. */
export interface SourceChange {
  /** The name of a function, class or constant, whose declaration begins at the beginning of a line. */
  declaration: string
  /** An expression that the declaration has exactly once. White space does not count. */
  find: string
  replace: string
}
