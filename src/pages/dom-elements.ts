/**
 * Makes elements of the document from JSX, where the inline scripts are built (`tools/plugins/inline-script.ts`): what is drawn
 * before React has come is written once. It takes what `react/jsx-runtime` takes of components without hooks.
 */
type Attribute = string | boolean | EventListener | undefined

interface Props {
  [name: string]: unknown
}

export function jsx(type: string | ((props: Props) => unknown), props: Props): unknown {
  if (typeof type === 'function') return type(props)
  const { children, ...attributes } = props
  const element = document.createElement(type)
  for (const [name, value] of Object.entries(attributes as Record<string, Attribute>)) {
    if (value === undefined) continue
    if (typeof value === 'function') element.addEventListener(name.slice('on'.length).toLowerCase(), value)
    else if (name in element) Object.assign(element, { [name]: value })
    // A false one of ARIA is written, too.
    else element.setAttribute(name, `${value}`)
  }
  element.append(...partsOf(children))
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
