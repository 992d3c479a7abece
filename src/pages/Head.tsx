import { icon, largeIcon, touchIcon } from 'virtual:images'

import { dark, light } from '../design/palette.ts'

/**
 * The head elements of every document, for browsers and search engines.
 *
 * @param props.root The path from the document to the site's root.
 */
export function Head({ title, description, root }: { title: string; description: string; root: string }) {
  return (
    <>
      <title>{title}</title>
      <meta name="description" content={description} />
      <meta name="theme-color" content={light.sky} media="(prefers-color-scheme: light)" />
      <meta name="theme-color" content={dark.sky} media="(prefers-color-scheme: dark)" />
      <link rel="icon" href={addressFromDocument(largeIcon, root)} sizes="192x192" />
      <link rel="icon" href={icon} sizes="any" type="image/svg+xml" />
      <link rel="apple-touch-icon" href={addressFromDocument(touchIcon, root)} />
    </>
  )
}

/** Converts an address relative to the site's root into one relative to the document. */
function addressFromDocument(address: string, root: string) {
  return address.replace(/^\.\//, root)
}
