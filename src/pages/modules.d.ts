/** The address of a page's script, relative to the document, like the addresses of the images below. */
declare module 'virtual:page-script/*' {
  export const script: string
}

declare module 'virtual:images' {
  export const icon: string
  export const touchIcon: string
  export const largeIcon: string
  export const preview: string
}

declare module '*?script' {
  /** The module, bundled and minified, as the source of a classic script. */
  const text: string
  export default text
}
