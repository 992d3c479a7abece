import { isUnspaced } from './unspaced.ts'

/** Says that the short last word of a search must match exactly, unless its first character is of a script without spaces. */
export function SearchHint({ word }: { word: string }) {
  if (isUnspaced(word)) return null
  return (
    <>
      Short words must match exactly, such as “<bdi>{word}</bdi>”. From three letters, the start of a word is
      enough.
    </>
  )
}
