import { preview } from 'virtual:images'

import { badge, tagline, title } from './copy.ts'

/**
 * The head elements for previews of a link to the page, such as in chats.
 *
 * @param props.siteUrl The page's public address. Without it there is no picture, since chats need absolute addresses.
 * @see https://ogp.me
 */
export function LinkPreview({ siteUrl }: { siteUrl: string | undefined }) {
  return (
    <>
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
