import { Hills } from '../../design/illustrations.tsx'
import fieldStyle from '../../design/fields.css?inline'
import landscape from '../../design/landscape.css?inline'
import { ownWords, type Look } from '../../design/look.ts'
import type { PageParts } from '../page-parts.ts'
import answerStyle from './answer.css?inline'
import { byMailSentence, noScriptSentence, titleIntro } from './copy.ts'

/** What is seen of the answer page before its script has read the invitation. */
export function answerPage(look: Look): PageParts {
  const { title, accent } = look
  const ownTitle = ownWords('title', look)
  return {
    accent,
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
  }
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
