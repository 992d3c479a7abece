/**
 * Changes the document as a browser's translation does, which wraps each text in two elements, and as extensions do, which put
 * elements beside fields. It runs in the page.
 */
export function changeAsOthersDo(): void {
  const texts = document.createTreeWalker(document.querySelector('main') ?? document.body, 4)
  const found: Text[] = []
  while (texts.nextNode()) found.push(texts.currentNode as Text)
  for (const text of found) {
    if (text.data.trim() === '' || text.parentElement?.closest('textarea, script, template')) continue
    const outer = document.createElement('font')
    const inner = document.createElement('font')
    text.replaceWith(outer)
    outer.append(inner)
    inner.append(text)
  }
  for (const field of document.querySelectorAll('input, textarea'))
    field.after(document.createElement('extension-button'))
}

/** Translates the page as Chrome does, now and whenever its texts change: elements with other texts replace them. It runs in the page. */
export function keepTranslated(): void {
  const translate = (root: Node) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    const found: Text[] = []
    while (texts.nextNode()) found.push(texts.currentNode as Text)
    for (const text of found) {
      if (text.data.trim() === '' || text.parentElement?.closest('textarea, script, style, font')) continue
      const font = document.createElement('font')
      font.textContent = text.data.toUpperCase()
      text.replaceWith(font)
    }
  }
  translate(document.body)
  new MutationObserver((records) => {
    for (const { target } of records) if (target.isConnected) translate(target)
  }).observe(document.body, { childList: true, subtree: true, characterData: true })
}
