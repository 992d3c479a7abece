import { defaultLook, type Look } from '../../design/look.ts'
import longWords from './long-words.css?inline'
import style from './own-words.css?inline'

/** Kinds of characters, and their widths in the display face, in em. A character has the first kind that matches. */
const widths: [kind: RegExp, width: number][] = [
  [/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Extended_Pictographic}]/u, 1.05],
  [/[\p{Lu}mwMW@%&]/u, 0.8],
  [/./u, 0.55],
]

/** The limits of what fits beside the card in a low window: the title's width in em, and the lengths of the other words. */
const maxLengths = { title: 14, tagline: 70, badge: 40 }

/** The style that makes an operator's own words fit; blank if the words are the default. */
export function ownWordsStyle({ title, tagline, badge }: Look): string {
  const { title: ourTitle, tagline: ourTagline, badge: ourBadge } = defaultLook
  if (title === ourTitle && tagline === ourTagline && badge === ourBadge) return ''
  const length = widthOf(title)
  const longest = Math.max(...title.split(/[\s-]+/).map(widthOf))
  const isLong =
    length > maxLengths.title || tagline.length > maxLengths.tagline || badge.length > maxLengths.badge
  return `:root{--word:${longest.toFixed(2)};--title:${length.toFixed(2)}}${style}${isLong ? longWords : ''}`
}

function widthOf(text: string) {
  return Array.from(text).reduce(
    (sum, character) => sum + (widths.find(([kind]) => kind.test(character))?.[1] ?? 0),
    0,
  )
}
