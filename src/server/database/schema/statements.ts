/** Splits a text of SQL into statements, each with the comment directly above it. */
export function statementsOf(text: string): string[] {
  const statements: string[] = []
  let start = 0
  for (const { 0: token, index } of text.matchAll(
    /--.*|'(?:[^']|'')*'|\$(\w*)\$[^]*?\$\1\$|^ *begin atomic$[^]*?^ *end;|;/gm,
  )) {
    if (!token.endsWith(';') || token.startsWith('--')) continue
    const end = index + token.length
    const [, statement = ''] =
      /(?:^|\n\n)((?:--.*\n)*(?!--)\S[^]*)$/.exec(text.slice(start, end).trim()) ?? []
    statements.push(statement)
    start = end
  }
  return statements
}
