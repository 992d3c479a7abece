/** The element that a browser's translation put in place of each text. */
const inPlaceOf = new WeakMap<Node, ChildNode>()

/**
 * Lets React change and remove texts that a browser's translation replaced by `font` elements, as Chrome's does. Otherwise React
 * changes a text that nobody sees, and fails when it removes one. A changed text takes its place again, and is translated again.
 */
export function followTranslation(): void {
  const observer = new MutationObserver((records) => {
    for (const { target, addedNodes, removedNodes, previousSibling, nextSibling } of records) {
      // Only texts that were replaced are observed for changes of their characters.
      inPlaceOf.get(target)?.replaceWith(target)
      const [text] = removedNodes
      const other = [addedNodes[0], previousSibling, nextSibling].find((node) => node?.nodeName === 'FONT')
      if (text?.nodeName !== '#text' || !other) continue
      inPlaceOf.set(text, other as Element)
      observer.observe(text, { characterData: true })
    }
  })
  observer.observe(document.body, { childList: true, subtree: true })
  for (const name of ['insertBefore', 'removeChild'] as const) {
    const original = Node.prototype[name] as (this: Node, ...nodes: (Node | null)[]) => Node
    const ofPresent: typeof original = function (...nodes) {
      const present = nodes.map((node) => {
        const other = node && inPlaceOf.get(node)
        return other?.parentNode === this ? other : node
      })
      return original.apply(this, present)
    }
    Object.assign(Node.prototype, { [name]: ofPresent })
  }
}
