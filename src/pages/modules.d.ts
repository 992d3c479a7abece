/** The address of a page's script, relative to the site's root. */
declare module 'virtual:page-script/*' {
  export const script: string
}

/** The addresses of the images, relative to the site's root; `icon` is a data URL instead. */
declare module 'virtual:images' {
  export const icon: string
  export const touchIcon: string
  export const largeIcon: string
  export const preview: string
  export const wordlessPreview: string
}

declare module '*?script' {
  /** The module, bundled and minified, as the source of a classic script. */
  const text: string
  export default text
}
