import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'

import { highlighterOf } from './highlight.tsx'

const highlighted = (search: string, text: string) => renderToStaticMarkup(highlighterOf(search)?.(text))

test('the words that a search found are highlighted, whatever their case and accents', () => {
  expect(highlighted('jose CLARK', 'José Clark, Clarkson')).toBe(
    '<mark>José</mark> <mark>Clark</mark>, <mark>Clarkson</mark>',
  )
  expect(highlighted('ada@acme.org', 'ada@acme.org')).toBe(
    '<mark>ada</mark>@<mark>acme</mark>.<mark>org</mark>',
  )
})

test('only the last word of a search finds words that begin with it, from three letters on', () => {
  expect(highlighted('cla jose', 'Clark José')).toBe('Clark <mark>José</mark>')
  expect(highlighted('jo', 'Jo José')).toBe('<mark>Jo</mark> José')
})

test('no part of a word is highlighted, nor a word that only the database can compare', () => {
  expect(highlighted('art', 'Start art')).toBe('Start <mark>art</mark>')
  expect(highlighted('soren', 'Søren')).toBe('Søren')
  expect(highlighterOf('京')).toBeUndefined()
  expect(highlighterOf(' ')).toBeUndefined()
})
