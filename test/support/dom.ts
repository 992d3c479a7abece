import { Window } from 'happy-dom'

/**
 * The window of the tests of screens: the part of a browser that React and the desk need, without layout, styles or loading of
 * documents. docs/decisions/0056-tests-in-tiers.md says what it cannot see.
 */
export const dom = new Window({ url: 'http://localhost/desk', width: 1366, height: 768 })

/**
 * The names that become global. All others stay those of Node.js, such as `fetch`, `URL` and `AbortSignal`: the server in the
 * same process uses them, too.
 */
const names = `
  document location history navigator localStorage sessionStorage innerHeight
  addEventListener removeEventListener dispatchEvent matchMedia scrollTo
  requestAnimationFrame cancelAnimationFrame getComputedStyle getSelection
  FormData MutationObserver Node Text Comment DocumentFragment Element Event CustomEvent`
  .trim()
  .split(/\s+/)
const classes = Object.getOwnPropertyNames(dom).filter((name) =>
  /^(HTML|SVG)\w*Element$|^(Clipboard|Focus|HashChange|Input|Keyboard|Mouse|PageTransition|Pointer|PopState|Storage|Submit|UI)Event$/.test(
    name,
  ),
)

for (const name of [...names, ...classes]) {
  const value: unknown = Reflect.get(dom, name)
  const isMethod = typeof value === 'function' && /^[a-z]/.test(name)
  define(name, isMethod ? value.bind(dom) : value)
}
define('window', globalThis)
// Each desk is the only window. The auth clients of earlier desks would listen.
define('BroadcastChannel', undefined)
define('reportError', (error: unknown) => console.error(error))
// The form and dialogs ask before unsaved text is dropped.
define('confirm', () => true)
// React's development version reports each element to developer tools with this function. No developer tools are open.
Reflect.deleteProperty(console, 'createTask')

function define(name: string, value: unknown) {
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
}
