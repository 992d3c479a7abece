/** The address of a page's script, like those of the images below relative to the document. */
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
