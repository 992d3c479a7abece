import fieldStyle from '../../design/fields.css?inline'
import { Hills } from '../../design/illustrations.tsx'
import landscape from '../../design/landscape.css?inline'
import type { Look } from '../../design/look.ts'
import answerStyle from '../answer/answer.css?inline'
import type { PageParts } from '../page-parts.ts'
import { byMailSentence, noScriptSentence, titleIntro } from './copy.ts'

/** What is seen of the page before its script has read the application. It has the answer page's look, and so its ids. */
export function withdrawPage({ title, accent }: Look): PageParts {
  return {
    accent,
    scene: <Hills />,
    sceneStyle: landscape + answerStyle,
    content: (
      <div className="card">
        <h1>
          {titleIntro}
          <bdi>{title}</bdi>
        </h1>
        <noscript>
          <p>{`${noScriptSentence} ${byMailSentence}`}</p>
        </noscript>
        <div id="place" aria-live="polite" />
      </div>
    ),
    contentStyle: fieldStyle,
  }
}
