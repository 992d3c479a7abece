import { createSwitch } from '../kit/switches.ts'

/** Whether the next application of the list opens after a decision or a mark. */
export const autoAdvance = createSwitch('goes-on', true)

/** Whether the bar at the bottom offers decisions where it could offer marks. */
export const decidesFirst = createSwitch('decides-first', false)

/** Whether the first steps are below the list until they are done. */
export const welcome = createSwitch('welcome', true)
