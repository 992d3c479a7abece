/** The address of a page's script, relative to the site's root, as the addresses below are. `icon` is a data URL instead. */
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
