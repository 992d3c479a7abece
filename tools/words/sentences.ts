/** The sentences of documents and screens. */

/** A sentence, and the number of the line on which its paragraph or text begins. */
export interface Sentence {
  line: number
  words: string
}

/** A piece of prose, and its offset in the file in characters. */
interface Piece {
  at: number
  text: string
}

/**
 * Finds the sentences of a file that users and readers of the documents see.
 *
 * @param file The file's name, which decides what is read: paragraphs of Markdown, the texts of the pages and of the
 *   application, and the errors that functions of the schema raise. Other files have no sentences.
 */
export function sentencesOf(file: string, content: string): Sentence[] {
  const lineAt = (at: number) => content.slice(0, at).split('\n').length
  return piecesOf(file, content).flatMap(({ at, text }) =>
    split(text).map((words) => ({ line: lineAt(at), words })),
  )
}

function piecesOf(file: string, content: string): Piece[] {
  if (file.endsWith('.md')) return paragraphs(content)
  if (/^src\/(?:pages|application)\/.*(?<!\.test)\.tsx?$/.test(file)) return texts(content)
  return /\/schemas\/.*\.sql$/.test(file)
    ? piecesMatching(content, /raise exception '((?:[^'\n]|'')+)'/g, 1)
    : []
}

/** Finds the texts of TypeScript and JSX, without comments. A text begins with a capital letter and has a space. */
function texts(content: string): Piece[] {
  const code = content.replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*/g, blank)
  return [
    ...piecesMatching(code, /(['"`])([A-Z](?:\\.|(?!\1)[^\\\n])* (?:\\.|(?!\1)[^\\\n])*)\1/g, 2),
    ...piecesMatching(code, /(?<!=)>\s*([A-Z][^<>{}=;]* [^<>{}=;]*)(?=[<{])/g, 1),
  ]
}

/** Finds paragraphs, list items and cells of tables, without code blocks. */
function paragraphs(content: string): Piece[] {
  return piecesMatching(content.replaceAll(/```[\s\S]*?```/g, blank), /(?:^|\n)((?:.+\n?)+)/g, 1).flatMap(
    ({ at, text }) => text.split(/\n(?=\s*(?:[-*|#]|\d+\.) ?)|\|/).map((part) => ({ at, text: part })),
  )
}

/** Keeps only the line ends of a text, so that offsets stay the same. */
function blank(text: string) {
  return text.replaceAll(/[^\n]/g, ' ')
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
