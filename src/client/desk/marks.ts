/** An organiser's opinion of an application. */
export type MarkValue = 'yes' | 'maybe' | 'no'

/** A mark that an organiser may see. */
export interface Mark {
  /** The name of its author, or their email. */
  author: string
  mark: MarkValue
  /** One line about it; may be blank. */
  why: string
  at: string
  /** Whether its author could see marks of others before giving this one, or before last changing its value. */
  after_seeing: boolean
}

/** The marks of an application, as an organiser may see them. */
export interface Marks {
  own: Mark | null
  /** Null while they are hidden: until the organiser's own mark, or a decision. */
  others: Mark[] | null
  /** The organisers who have not marked it; null while marks are hidden. */
  missing: string[] | null
}

/** The visible marks of an application in a list. `by`: the author of each, and the mark. */
export type MarkCounts = Record<MarkValue, number> & {
  own: MarkValue | null
  by: [author: string, mark: MarkValue][]
}

/** The organiser who is signed in. */
export interface Organiser {
  email: string
  /** Stands in place of the email wherever the desk names an author. */
  name?: string
  /** Present for a reader, who may only read, mark and write notes. */
  reader?: true
}

/** An organiser in the list of all. */
export interface ListedOrganiser {
  account: string
  email: string
  name: string | null
  is_reader: boolean
  has_signed_in: boolean
  /** Who invited them, and when; null if nobody did at the desk. */
  invited: { by: string; at: string } | null
}

/** All organisers. */
export interface Organisers {
  organisers: ListedOrganiser[]
  /** Whether organisers can invite others: not on a hosted project, which makes the accounts itself. */
  can_invite: boolean
}

/** How an organiser reads applications. */
export interface Reading {
  blind: boolean
  /** Whether they do not mark, so that nobody waits for their marks. */
  reads_only: boolean
  /** Whether there are other organisers. */
  is_shared: boolean
}
