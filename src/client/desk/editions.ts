/** One retreat of several. */
export interface Edition {
  /** Its number: the first retreat is 1. */
  id: number
  /** Blank until it gets one. */
  name: string
  /** Null for the first. */
  began_at: string | null
  starts_on: string | null
  ends_on: string | null
}

/** The parts that the next retreat takes over from the one before. */
export interface CopiedParts {
  templates: boolean
  questions: boolean
  /** The number of places and the days to answer. */
  places: boolean
}
