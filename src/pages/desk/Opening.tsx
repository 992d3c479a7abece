import { useTitle } from './kit/Screen.tsx'

/** What stands there until the desk's script has come. */
export function Opening() {
  useTitle('Opening')
  return (
    <div className="alone">
      <p className="brand">Unplugged.</p>
      <p id="opening">Opening the desk…</p>
      <noscript>
        <p>The desk needs JavaScript. Please switch it on for this page, and reload.</p>
      </noscript>
    </div>
  )
}
