/**
 * Makes elements of the document from JSX. Inline scripts are built with it in place of `react/jsx-runtime`
 * (`tools/plugins/inline-script.ts`), so that a component without hooks can be shown before React has come.
 */
type Attribute = string | boolean | EventListener | undefined

interface Props {
  [name: string]: unknown
}

/**
 * Makes an element, or what a component comes to.
 *
 * @param props As React has them: handlers by `on` and the event's name, `className`, and attributes.
 */
export function jsx(type: string | ((props: Props) => unknown), props: Props): unknown {
  if (typeof type === 'function') return type(props)
  const element = document.createElement(type)
  for (const [name, value] of Object.entries(props as Record<string, Attribute>)) {
    if (name === 'children') element.append(...partsOf(value))
    else if (typeof value === 'function')
      element.addEventListener(name.slice('on'.length).toLowerCase(), value)
    else if (value !== undefined && (value !== false || name.startsWith('aria-')))
      element.setAttribute(name === 'className' ? 'class' : name, `${value}`)
  }
  return element
}

export { jsx as jsxs }

/** Several elements without one around them. */
export function Fragment({ children }: { children?: unknown }): unknown {
  return children
}

function partsOf(children: unknown): (Node | string)[] {
  if (Array.isArray(children)) return children.flatMap(partsOf)
  if (children instanceof Node) return [children]
  return typeof children === 'string' ? [children] : []
}
