/** The words, the link and the colour of the pages that an operator may change without code. */
export interface Look {
  /** The name of the page and of the retreat. */
  title: string
  tagline: string
  badge: string
  /** The text of the box after an application was sent. */
  success: string
  /** The address of a page about privacy; undefined for no link. */
  privacyUrl: string | undefined
  /** The words of the link to it. */
  privacyLabel: string
  /** The colour of buttons, links and chosen options in light mode, as `#rrggbb`; undefined for the default. */
  accent: string | undefined
  /** Facts about the retreat, each with its name. */
  facts: readonly { name: string; value: string }[]
  /** Paragraphs about the retreat, with blank lines between them; blank for none. */
  about: string
}

/** The parts of the look that an operator sets. They win over what organisers write at the desk. */
export type OperatorLook = Partial<Omit<Look, 'facts' | 'about'>>

/** The default text of the success box. It is a separate constant, because the page's script needs no other part of the look. */
export const defaultSuccess =
  "Thank you for applying to Unplugged. We'll review your application and get back to you soon."

/** The default look. */
export const defaultLook: Look = {
  title: 'Unplugged.',
  tagline: 'Build deeper relationships and bigger ideas without distraction',
  badge: 'Free For Founders, Apply Below',
  success: defaultSuccess,
  privacyUrl: undefined,
  privacyLabel: 'Privacy policy',
  accent: undefined,
  facts: [],
  about: '',
}

/** A title as the end of a sentence: with a full stop, unless it ends with punctuation. */
export function withFullStop(title: string): string {
  return /\p{P}$/u.test(title) ? title : `${title}.`
}

/** The default text of the success box under a title. */
export function thanksOf(title: string): string {
  return defaultSuccess.replace(defaultLook.title, () => withFullStop(title))
}

type Words = 'title' | 'tagline' | 'badge' | 'success'

/** Returns the words if they are the operator's own, and undefined if they are the default. */
export function ownWords(name: Words, { [name]: words }: Look): string | undefined {
  return words === defaultLook[name] ? undefined : words
}
