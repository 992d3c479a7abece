/** Runs before each file of the tests of screens. All files of a worker share one window, as they share the imported modules. */
import '../dom.ts'
