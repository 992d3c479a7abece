import { preview, wordlessPreview } from 'virtual:images'

import { ownWords, type Look } from '../../design/look.ts'

/**
 * The head elements for previews of a link to the page, such as in chats.
 *
 * @param props.look The title and the tagline of the preview. The picture shows the default words, or none if one of them differs.
 * @param props.siteUrl The page's public address. Without it there is no picture, since chats need absolute addresses.
 * @see https://ogp.me
 */
export function LinkPreview({ look, siteUrl }: { look: Look; siteUrl: string | undefined }) {
  return (
    <>
      <meta property="og:type" content="website" />
      <meta property="og:title" content={look.title} />
      <meta property="og:description" content={look.tagline} />
      {siteUrl !== undefined && <Address {...{ look, siteUrl }} />}
    </>
  )
}

function Address({ look, siteUrl }: { look: Look; siteUrl: string }) {
  const isOurs = (['title', 'tagline', 'badge'] as const).every((name) => ownWords(name, look) === undefined)
  const [picture, alternative] = isOurs
    ? [preview, `${look.title} ${look.badge}`]
    : [wordlessPreview, `${look.title}: a low sun above green hills`]
  return (
    <>
      <link rel="canonical" href={siteUrl} />
      <meta property="og:url" content={siteUrl} />
      <meta property="og:image" content={new URL(picture, siteUrl.replace(/\/?$/, '/')).href} />
      <meta property="og:image:width" content="1200" />
      <meta property="og:image:height" content="630" />
      <meta property="og:image:alt" content={alternative} />
      <meta name="twitter:card" content="summary_large_image" />
    </>
  )
}
