import { createElement, Fragment, type ReactNode } from 'react'

import { isUnspaced } from './unspaced.ts'

/** Words and what is between them, in turn. */
const parts = /[\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+/gu

const wordsIn = (text: string) => text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []

/** Removes case and accents, as the search does. The few letters that Unicode does not decompose, such as ø, stay. */
const folded = (word: string) => word.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()

/** The least number of letters with which the last word of a search finds words that begin with it. */
const minBeginning = 3

/**
 * Creates a function that highlights the words of a text that a search found. It leaves out words that it cannot be sure of: of
 * scripts without spaces, and with letters that only the database folds.
 *
 * @returns The function, or undefined for a search without such words.
 */
export function highlighterOf(search: string): ((text: string) => ReactNode) | undefined {
  const wanted = wordsIn(search)
    .filter((word) => !isUnspaced(word))
    .map(folded)
  const last = wanted.at(-1)
  if (last === undefined) return undefined
  const exact = new Set(wanted)
  const endsInWord = /[\p{L}\p{N}\p{M}]$/u.test(search.trim())
  const isFound = (word: string) =>
    exact.has(word) || (endsInWord && last.length >= minBeginning && word.startsWith(last))
  return (text) => {
    const shown = (text.match(parts) ?? []).map((part) =>
      isFound(folded(part)) ? createElement('mark', null, part) : part,
    )
    return createElement(Fragment, null, ...shown)
  }
}
