import style from './title.css?inline'

/** The widths of characters in the display face, in em. */
const widths: [RegExp, number][] = [
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u, 1.05],
  [/[\p{Lu}mwMW@%&]/u, 0.8],
  [/./u, 0.55],
]

/**
 * The style that lets another title than ours fit: its longest word into the width, and the whole into about three lines.
 *
 * @param title The operator's own title; undefined for ours, which needs no style.
 */
export function titleStyle(title: string | undefined): string {
  if (title === undefined) return ''
  const longest = Math.max(...title.split(/[\s-]+/).map(widthOf))
  return `:root{--word:${longest.toFixed(2)};--title:${widthOf(title).toFixed(2)}}${style}`
}

function widthOf(text: string) {
  return Array.from(text).reduce(
    (sum, character) => sum + (widths.find(([kind]) => kind.test(character))?.[1] ?? 0),
    0,
  )
}
