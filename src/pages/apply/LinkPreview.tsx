import { preview } from 'virtual:images'

import { defaultLook, type Look } from '../../design/look.ts'

/**
 * The head elements for previews of a link to the page, such as in chats.
 *
 * @param props.look The title and the tagline of the preview. The picture and its text alternative always have
 *   the default words.
 * @param props.siteUrl The page's public address. Without it there is no picture, since chats need absolute addresses.
 * @see https://ogp.me
 */
export function LinkPreview({ look, siteUrl }: { look: Look; siteUrl: string | undefined }) {
  return (
    <>
      <meta property="og:type" content="website" />
      <meta property="og:title" content={look.title} />
      <meta property="og:description" content={look.tagline} />
      {siteUrl !== undefined && <Address siteUrl={siteUrl} />}
    </>
  )
}

function Address({ siteUrl }: { siteUrl: string }) {
  return (
    <>
      <link rel="canonical" href={siteUrl} />
      <meta property="og:url" content={siteUrl} />
      <meta property="og:image" content={new URL(preview, siteUrl.replace(/\/?$/, '/')).href} />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta property="og:image:alt" content={`${defaultLook.title} ${defaultLook.badge}`} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  )
}
