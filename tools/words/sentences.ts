/** The prose of a source file or a document, sentence by sentence. */

/** A sentence, the number of the line on which its comment, title or paragraph begins, and whether it is a test's title. */
export interface Sentence {
  line: number
  words: string
  isTitle: boolean
}

/** A piece of prose, and its offset in the file in characters. */
interface Piece {
  at: number
  text: string
  isTitle?: true
}

/**
 * Finds the sentences of a file that people read.
 *
 * @param file The file's name. Its extension decides what is read: comments and test titles of TypeScript and JavaScript,
 *   comments of CSS and SQL, paragraphs of Markdown. Other files have no sentences.
 */
export function sentencesOf(file: string, content: string): Sentence[] {
  const lineAt = (at: number) => content.slice(0, at).split('\n').length
  return piecesOf(file, content).flatMap(({ at, text, isTitle = false }) =>
    split(text).map((words) => ({ line: lineAt(at), words, isTitle })),
  )
}

function piecesOf(file: string, content: string): Piece[] {
  if (/\.tsx?$|\.js$/.test(file)) {
    const titles = piecesMatching(content, /\b(?:test|describe)(?:\.\w+)*\(\s*(['"`])(.+?)\1/g, 2).map(
      (title) => ({
        ...title,
        isTitle: true as const,
      }),
    )
    return [...blocks(content), ...lineComments(content, '//'), ...titles]
  }
  if (file.endsWith('.css')) return blocks(content)
  if (file.endsWith('.sql')) return lineComments(content, '--')
  return file.endsWith('.md') ? paragraphs(content) : []
}

/** Finds block comments. Each tag of a docstring is a separate piece, without the tag. */
function blocks(content: string): Piece[] {
  return piecesMatching(content, /(?:^|[\s({])\/\*\*?(?=\s)([\s\S]*?)\*\//gm, 1).flatMap(({ at, text }) =>
    text
      .replaceAll(/\n\s*\* ?/g, '\n')
      .split(/\n(?=@)|\n\s*\n|\n(?=- )/)
      .map((part) => ({ at, text: part.replace(/^\s*@\w+ *(?:\{.*?\})?.*? (?=[A-Z])/, '') }))
      .filter((part) => !/^\s*@/.test(part.text)),
  )
}

/** Finds line comments. Consecutive lines are one comment. */
function lineComments(content: string, mark: '//' | '--'): Piece[] {
  const lines = mark === '//' ? /((?:^[ \t]*\/\/ .*\n)+)/gm : /((?:^[ \t]*-- .*\n)+)/gm
  return piecesMatching(content, lines, 1).map(({ at, text }) => ({
    at,
    text: text.replaceAll(new RegExp(`^[ \\t]*${mark} `, 'gm'), ''),
  }))
}

/** Finds paragraphs, list items and cells of tables, without code blocks. */
function paragraphs(content: string): Piece[] {
  const blank = (match: string) => match.replaceAll(/[^\n]/g, ' ')
  return piecesMatching(content.replaceAll(/```[\s\S]*?```/g, blank), /(?:^|\n)((?:.+\n?)+)/g, 1).flatMap(
    ({ at, text }) => text.split(/\n(?=\s*(?:[-*|#]|\d+\.) ?)|\|/).map((part) => ({ at, text: part })),
  )
}

function piecesMatching(content: string, pattern: RegExp, group: number): Piece[] {
  return [...content.matchAll(pattern)].map((match) => ({
    at: match.index + match[0].indexOf(match[group] ?? ''),
    text: match[group] ?? '',
  }))
}

function split(text: string) {
  return text
    .replaceAll(/<[^>]*>|^ *\|.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .split(/(?<=[.!?:]["”)]?\**) (?=[[A-Z“"`*])|(?<=;) /)
    .map((sentence) =>
      sentence
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replaceAll(/[*_#]|^- /g, '')
        .trim(),
    )
    .filter((sentence) => sentence !== '')
}
