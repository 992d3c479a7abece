import { factsOf, type PageWords } from '../application/page-words.ts'
import { allowedAccent } from '../design/accent.ts'
import { defaultLook, thanksOf, type Look, type OperatorLook } from '../design/look.ts'

/**
 * The words and the look of the pages: the operator's settings, otherwise what organisers wrote at the desk, otherwise the
 * default. Every page, letter and email takes them from here. A colour that is too light to read is left out, whoever stored it.
 */
export function lookOf(operator: OperatorLook, words: PageWords): Look {
  const { title, tagline, badge, success, privacy_url, privacy_label, accent, about } = words
  const own = {
    title,
    tagline,
    badge,
    success,
    privacyUrl: privacy_url,
    privacyLabel: privacy_label,
    accent: accent && allowedAccent(accent),
    about,
  }
  const look = { ...defaultLook, ...given(own), ...operator, facts: factsOf(words) }
  return { ...look, success: operator.success ?? (success || thanksOf(look.title)) }
}

/** The entries that have a value. */
function given<Value extends object>(values: Value) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value)) as {
    [Key in keyof Value]?: NonNullable<Value[Key]>
  }
}
