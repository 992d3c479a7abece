import { Hills } from '../../design/illustrations.tsx'
import fieldStyle from '../../design/fields.css?inline'
import landscape from '../../design/landscape.css?inline'
import type { Look } from '../../design/look.ts'
import type { PageParts } from '../page-parts.ts'
import answerStyle from './answer.css?inline'
import { byMailSentence, noScriptSentence, titleIntro } from './copy.ts'

/** What is seen of the answer page before its script has read the invitation. */
export function answerPage({ title, accent }: Look): PageParts {
  return {
    accent,
    scene: <Hills />,
    sceneStyle: landscape + answerStyle,
    content: (
      <div className="card">
        <h1 tabIndex={-1}>
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
