/**
 * Runs before each file of the tier `database`. Tests of screens get a window before they import the desk's modules. Files that a
 * worker runs after them keep it, and do not need it.
 */
import { expect } from 'vitest'

if (expect.getState().testPath?.includes('/test/screens/') === true) await import('./dom.ts')
