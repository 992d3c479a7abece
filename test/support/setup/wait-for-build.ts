/** Waits before each file of the tests of whole programs until the sources are built. */
import { built } from '../built.ts'

await built()
