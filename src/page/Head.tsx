import { icon, largeIcon, preview, touchIcon } from 'virtual:page-assets'

import { dark, light } from './palette.ts'
import { badge, tagline, title } from './words.ts'

/**
 * What stands in the document's head for browsers, search engines and chats.
 *
 * @param props.siteUrl The page's public address. Previews need it: they ask for absolute addresses.
 * @see https://ogp.me
 */
export function Head({ siteUrl }: { siteUrl: string | undefined }) {
  return (
    <>
      <title>{title}</title>
      <meta name="description" content={tagline} />
      <meta name="theme-color" content={light.sky} media="(prefers-color-scheme: light)" />
      <meta name="theme-color" content={dark.sky} media="(prefers-color-scheme: dark)" />
      <link rel="icon" href={largeIcon} sizes="192x192" />
      <link rel="icon" href={icon} sizes="any" type="image/svg+xml" />
      <link rel="apple-touch-icon" href={touchIcon} />
      <meta property="og:type" content="website" />
      <meta property="og:title" content={title} />
      <meta property="og:description" content={tagline} />
      {siteUrl !== undefined && <Address siteUrl={siteUrl} />}
    </>
  )
}

function Address({ siteUrl }: { siteUrl: string }) {
  return (
    <>
      <link rel="canonical" href={siteUrl} />
      <meta property="og:url" content={siteUrl} />
      <meta property="og:image" content={new URL(preview, siteUrl).href} />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta property="og:image:alt" content={`${title} ${badge}`} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  )
}
