import { expect, test } from 'vitest'

import { problemsOf } from './problems.ts'
import { sentencesOf } from './sentences.ts'

test.each(['What it holds is deleted.', 'Whoever signs in waits.', 'That an application was erased stays.'])(
  'a sentence that begins with a clause is a problem: %s',
  (words) => {
    expect(problemsOf(words)).toEqual(['it begins with a clause: begin with the subject'])
  },
)

test.each([
  'What is this?',
  'What organisers do',
  'That starts the server.',
  'The server starts.',
  'Nobody waits.',
])('a question, a heading, or a sentence that begins with its subject is no problem: %s', (words) => {
  expect(problemsOf(words)).toEqual([])
})

test('a word on the list of wrong words is a problem, except in code', () => {
  expect(problemsOf('It is read anew, by itself.')).toEqual([
    '“anew”: write “again”',
    '“by itself”: write “automatically”',
  ])
  expect(problemsOf('The table `mails` has a row.')).toEqual([])
})

test('a sentence with more than thirty words is a problem', () => {
  const words = (count: number) => `${'a '.repeat(count - 1)}word.`
  expect(problemsOf(words(30))).toEqual([])
  expect(problemsOf(words(31))).toEqual(['it has 31 words: write two sentences'])
})

const screen = `// What a comment says is not read.
const label = 'Save it'
const code = 'what-is-no-text'
export function Note({ count }: { count: number }) {
  /* Nor here. */
  return (
    <p title="Shown beside it.">
      Your changes are not saved. Saving now
      replaces {count} of theirs.
    </p>
  )
}
`

test('on screens, texts of strings and elements have sentences, with their line numbers, and comments have none', () => {
  const sentences = sentencesOf('src/pages/desk/Note.tsx', screen)
  expect(sentences.map(({ line, words }) => [line, words])).toEqual([
    [2, 'Save it'],
    [7, 'Shown beside it.'],
    [8, 'Your changes are not saved.'],
    [8, 'Saving now replaces'],
  ])
  expect(sentencesOf('src/pages/desk/Note.test.tsx', screen)).toEqual([])
  expect(sentencesOf('src/server/note.ts', screen)).toEqual([])
})

test('in documents, paragraphs, table cells and list items have sentences, and code has none', () => {
  const text =
    '# Title\n\nSee [the page](a.md). It is short.\n\n```sh\nWhat is run.\n```\n\n| one | A cell. |\n- A point.\n'
  expect(sentencesOf('a.md', text).map(({ words }) => words)).toEqual([
    'Title',
    'See the page.',
    'It is short.',
    'one',
    'A cell.',
    'A point.',
  ])
})

test("in the schema's SQL, raised errors have sentences", () => {
  const sql =
    "-- What a comment says.\nraise exception 'This isn''t saved. Try again.' using errcode = 'PT409';\n"
  expect(sentencesOf('supabase/schemas/01_a.sql', sql).map(({ words }) => words)).toEqual([
    "This isn''t saved.",
    'Try again.',
  ])
})
