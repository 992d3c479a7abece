import { expect, test } from 'vitest'

import { problemsOf } from './problems.ts'
import { sentencesOf } from './sentences.ts'

const problems = (words: string, isTitle = false) => problemsOf({ words, isTitle })

test.each([
  ['What it holds is deleted.', false],
  ['Whoever signs in waits.', false],
  ['That an application was erased stays.', false],
  ['who signs in waits', true],
])('a sentence that begins with a clause is a problem: %s', (words, isTitle) => {
  expect(problems(words, isTitle)).toEqual(['it begins with a clause: begin with the subject'])
})

test.each([
  'What is this?',
  'What organisers do',
  'That starts the server.',
  'The server starts.',
  'Nobody waits.',
])('a question, a heading, or a sentence that begins with its subject is no problem: %s', (words) => {
  expect(problems(words)).toEqual([])
})

test('a word on the list of wrong words is a problem, except in code', () => {
  expect(problems('It is read anew, by itself.')).toEqual([
    '“anew”: write “again”',
    '“by itself”: write “automatically”',
  ])
  expect(problems('The table `mails` has a row.')).toEqual([])
})

test('a sentence with more than thirty words is a problem', () => {
  const words = (count: number) => `${'a '.repeat(count - 1)}word.`
  expect(problems(words(30))).toEqual([])
  expect(problems(words(31))).toEqual(['it has 31 words: write two sentences'])
})

const code = `/** Reads a file. It may be missing. */
const address = 'https://example.org/*' // not this
  // One comment
  // of two lines.
/**
 * Writes a file.
 *
 * @param name Its name.
 * @returns The size.
 */
test('a file is read', () => {})
`

test('in code, comments, docstring tags and test titles have sentences, with their line numbers', () => {
  expect(sentencesOf('a.ts', code).map(({ line, words, isTitle }) => [line, words, isTitle])).toEqual([
    [1, 'Reads a file.', false],
    [1, 'It may be missing.', false],
    [5, 'Writes a file.', false],
    [5, 'Its name.', false],
    [5, 'The size.', false],
    [3, 'One comment of two lines.', false],
    [11, 'a file is read', true],
  ])
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

test('in SQL and CSS, comments have sentences, and other files have none', () => {
  const words = (file: string, content: string) =>
    sentencesOf(file, content).map((sentence) => sentence.words)
  expect(words('a.sql', '-- A table.\ncreate table a ();\n')).toEqual(['A table.'])
  expect(words('a.css', '/* A rule. */\na {}\n')).toEqual(['A rule.'])
  expect(words('a.json', '{"a": "What it is."}')).toEqual([])
})
