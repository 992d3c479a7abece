/** Asks for the desk's script at once. What it is at is told by the address, since a static host may give the document as a folder's. */
import { siteRoot } from './site-root.ts'

const script = document.createElement('script')
script.type = 'module'
script.src = new URL(document.currentScript?.dataset['page'] ?? '', siteRoot()).href
script.addEventListener('error', () => {
  const message = document.getElementById('opening')
  if (message) message.textContent = 'The desk could not be loaded. Please check your connection and reload.'
})
document.head.append(script)
