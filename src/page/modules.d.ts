/** The addresses of what the page is built from, relative to the document. */
declare module 'virtual:page-assets' {
  export const script: string
  export const icon: string
  export const touchIcon: string
  export const largeIcon: string
  export const preview: string
}

declare module '*?script' {
  /** The module, bundled and minified, as the text of a classic script. */
  const text: string
  export default text
}
