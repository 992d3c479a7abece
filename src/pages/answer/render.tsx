import { Hills } from '../../design/illustrations.tsx'
import fieldStyle from '../../design/fields.css?inline'
import landscape from '../../design/landscape.css?inline'
import { ownWords, type Look } from '../../design/look.ts'
import { renderDocument, type RenderedDocument } from '../document.tsx'
import type { AnswerData } from './answer-data.ts'
import answerStyle from './answer.css?inline'
import { byMailSentence, description, noScriptSentence, titleIntro } from './copy.ts'
// oxlint-disable-next-line import/default -- the build makes this default export
import inlineScript from './respond.ts?script'

export type { AnswerData } from './answer-data.ts'

/** The options of the answer page's document. */
export interface AnswerOptions {
  look: Look
  /** Whether the document includes what its headers say, because no server sends them. */
  policyInDocument: boolean
}

/**
 * Renders the page on which accepted people give their RSVP.
 *
 * @param given The data that the inline script reads, except the title, which the look has.
 * @returns The document and its policy.
 */
export function renderAnswer(
  given: Omit<AnswerData, 'title'>,
  { look, policyInDocument }: AnswerOptions,
): RenderedDocument {
  const { title, accent } = look
  const ownTitle = ownWords('title', look)
  const data: AnswerData = { ...given, title }
  const page = {
    title: titleIntro + title,
    description,
    accent,
    // Our own server sends the same as headers.
    preview: policyInDocument && (
      <>
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
      </>
    ),
    root: '../' as const,
    scene: <Hills />,
    sceneStyle: landscape + answerStyle,
    content: (
      <div className="card">
        <h1 tabIndex={-1}>{ownTitle === undefined ? titleIntro + title : <OwnTitle title={ownTitle} />}</h1>
        <noscript>
          <p>{`${noScriptSentence} ${byMailSentence}`}</p>
        </noscript>
        <div id="place" aria-live="polite" />
      </div>
    ),
    contentStyle: fieldStyle,
    isSmall: true,
    data,
    inlineScript,
    calls: [data.backend.url],
    postsForms: false,
  }
  return renderDocument(page, policyInDocument)
}

/** The page's title with the operator's own words, which may be in a language that is written from right to left. */
function OwnTitle({ title }: { title: string }) {
  return (
    <>
      {titleIntro}
      <bdi>{title}</bdi>
    </>
  )
}
