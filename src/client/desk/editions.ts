/** One retreat of several. The code and the schema call a retreat an edition. */
export interface Edition {
  /** Its number: the first retreat is 1. */
  id: number
  /** Blank until organisers name it. */
  name: string
  /** Null for the first retreat. */
  began_at: string | null
  starts_on: string | null
  ends_on: string | null
}

/** The parts that are copied from the previous retreat to the next one. */
export interface CopiedParts {
  templates: boolean
  questions: boolean
  /** The number of places and the days to answer. */
  places: boolean
}
