declare module 'virtual:page-script' {
  /** The address of the page's script, relative to the document. */
  const address: string
  export default address
}

declare module '*?script' {
  /** The module, bundled and minified, as the text of a classic script. */
  const text: string
  export default text
}
